"""Events and logs, read as they grow and whatever has happened to them."""

import json

import pytest

from nbddp.run.folder.folders import create
from nbddp.run.log import reading
from nbddp.run.log.event_files import EventReader
from nbddp.run.log.reading import LogReader
from nbddp.run.state import events
from nbddp.run.state.events import append


@pytest.fixture
def folder(tmp_path):
    return create(tmp_path, "run")


def test_what_is_appended_is_read_once_and_in_order(folder):
    reader = EventReader(folder)
    assert reader.read() == []
    append(folder, "launch", pid=3, name="x")
    append(folder, "stopping", grade="now")
    first = reader.read()
    assert [(event["event"], event["rank"]) for event in first] == [("launch", None), ("stopping", None)]
    assert first[0]["time"] > 1_700_000_000
    append(folder, "exit", status=0)
    assert [event["event"] for event in reader.read()] == ["exit"]
    assert reader.read() == []
    assert reader.finish() == []


def test_half_a_line_waits_for_its_other_half(folder):
    reader = EventReader(folder)
    folder.events.write_text('{"event": "st')
    assert reader.read() == []
    with folder.events.open("a") as file:
        file.write('ep", "step": 1}\n{"ev')
    assert reader.read() == [{"event": "step", "step": 1}]
    (cut,) = reader.finish()
    assert (cut["event"], cut["message"]) == ("unreadable", "line 2 of events.jsonl is not readable and was left out")


def test_a_large_file_is_read_in_pieces(folder, monkeypatch):
    monkeypatch.setattr(reading, "AT_ONCE", 1000)
    folder.events.write_text("".join(json.dumps({"event": "step", "step": n}) + "\n" for n in range(500)))
    reader, seen = EventReader(folder), []
    while piece := reader.read():
        assert len(piece) < 60
        seen += piece
    assert [event["step"] for event in seen] == list(range(500))


def test_on_a_full_disk_the_end_goes_into_what_was_set_aside(folder, monkeypatch):
    def full(path, line):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(events, "_write", full)
    append(folder, "hang", quiet=1.0)
    append(folder, "exit", status=1)
    assert not folder.events.exists()
    assert [event["event"] for event in EventReader(folder).finish()] == ["hang", "exit"]


def test_a_folder_that_has_gone_is_no_error_to_report_to(folder, tmp_path):
    import shutil

    shutil.rmtree(folder.path)
    append(folder, "exit", status=1)
    assert EventReader(folder).read() == []


def test_deeply_nested_nonsense_is_unreadable_not_fatal(folder):
    folder.events.write_text("[" * 100_000 + "\n" + '{"event": "end"}\n')
    assert [event["event"] for event in EventReader(folder).read()] == ["unreadable", "end"]


def lines(reader):
    return [event["text"] for event in reader.read()]


def test_log_lines_end_with_newline_or_carriage_return(folder):
    reader = LogReader(folder, 0)
    assert lines(reader) == []
    folder.log(0).write_bytes("a\r\nb\n\rc 10%\rc 20%\rréd".encode() + b"\xff")
    assert lines(reader) == ["a", "b", "", "c 10%", "c 20%"]
    assert [event["text"] for event in reader.finish()] == ["réd\ufffd"]


def test_a_line_without_an_end_is_cut(folder, monkeypatch):
    monkeypatch.setattr(reading, "AT_ONCE", 50_000)
    folder.log(0).write_text("x" * 200_000)
    reader = LogReader(folder, 0)
    seen = [text for _ in range(5) for text in lines(reader)]
    assert len(seen) == 2
    assert sum(map(len, seen)) == 200_000


def test_of_a_log_that_is_far_too_long_the_end_is_read_and_that_is_said(folder, monkeypatch):
    monkeypatch.setattr(reading, "FAR_BEHIND", 1 << 20)
    folder.log(0).write_text("0123456\n" * (3 << 17))
    reader = LogReader(folder, 0)
    first = reader.read()
    assert first[0]["event"] == "warning"
    assert "2 MiB of rank 0's log" in first[0]["message"]
    count = len(first) - 1
    while more := reader.read():
        assert all(event["event"] == "line" for event in more)
        count += len(more)
    assert count == (1 << 15) - 1  # the first may be the end of a line


def test_of_the_other_ranks_the_latest_lines_are_enough(folder, monkeypatch):
    monkeypatch.setattr(reading, "AT_ONCE", 800)
    folder.log(1).write_text("".join(f"{n:07}\n" for n in range(10_000)))
    seen = lines(LogReader(folder, 1))
    assert seen[-1] == "0009999"
    assert len(seen) == 25
