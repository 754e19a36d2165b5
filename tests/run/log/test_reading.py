"""Growing files, a piece at a time."""

from __future__ import annotations

import json
import re
import sys

import pytest

from nbddp.run.folder.folders import create
from nbddp.run.log.event_files import EventReader
from nbddp.run.log.reading import AT_ONCE, MOST_SHOWN, LogReader, Tail, new_lines

ENDS = re.compile(rb"\n")


@pytest.fixture
def folder(tmp_path):
    return create(tmp_path, "x")


def test_a_line_counts_once_it_is_complete(tmp_path):
    path = tmp_path / "a"
    tail = Tail(path, 100)
    assert tail.read(ENDS) == []
    path.write_bytes(b"one\ntw")
    assert tail.read(ENDS) == [b"one"]
    assert tail.read(ENDS) == []
    with path.open("ab") as file:
        file.write(b"o\nthree")
    assert tail.read(ENDS) == [b"two"]
    assert (tail.finish(), tail.finish()) == (b"three", b"")


def test_a_burst_is_read_in_pieces_and_nothing_is_lost(tmp_path):
    path = tmp_path / "a"
    lines = [b"%06d" % n for n in range(AT_ONCE // 3)]
    path.write_bytes(b"\n".join(lines) + b"\n")
    tail, found = Tail(path, 100), []
    while new := tail.read(ENDS):
        assert sum(map(len, new)) <= AT_ONCE
        found += new
    assert found == lines


def test_an_endless_line_is_cut(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"x" * 500)
    assert Tail(path, 100).read(ENDS) == [b"x" * 500]


def test_what_is_far_behind_is_left_out(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"old\n" * 100 + b"new\n")
    tail = Tail(path, 100)
    assert tail.skip_to_last(4) == 400
    assert tail.read(ENDS) == [b"new"]
    assert tail.skip_to_last(4) == 0


def test_events_in_their_order_and_damaged_ones_told(folder):
    good = json.dumps({"event": "step", "step": 1}).encode()
    folder.events.write_bytes(good + b"\n\nrubbish\n{cut" + good + b"\n" + good)
    reader = EventReader(folder)
    assert [e["event"] for e in reader.read()] == ["step", "unreadable", "unreadable", "step"]
    assert [e["event"] for e in reader.finish()] == ["step"]


def test_the_reserve_is_read_at_the_end_only(folder):
    folder.reserve.write_bytes(b"\0" * 10 + b'{"event": "exit", "status": 1}\n' + b"\0" * 10)
    reader = EventReader(folder)
    assert reader.read() == []
    assert [e["event"] for e in reader.finish()] == ["exit"]


def test_a_bars_carriage_returns_end_lines_too(folder):
    folder.log(0).write_bytes(b"a\rb\r\nc\nlast")
    reader = LogReader(folder, 0)
    assert [e["text"] for e in reader.read()] == ["a", "b", "c"]
    assert [e["text"] for e in reader.finish()] == ["last"]


def test_of_other_ranks_the_latest_lines_count(folder):
    text = b"old\n" * AT_ONCE + b"new\n"
    folder.log(0).write_bytes(text)
    folder.log(1).write_bytes(text)
    first, other = LogReader(folder, 0), LogReader(folder, 1)
    assert next(iter(first.read()))["text"] == "old"
    lines = []
    while new := other.read():
        lines += new
    assert len(lines) < AT_ONCE
    assert lines[-1]["text"] == "new"


def test_of_a_flood_the_end_is_shown_and_what_is_not_is_said(folder):
    folder.log(0).write_text("".join(f"{n:07}\n" for n in range(MOST_SHOWN)))
    first, *rest = new_lines(LogReader(folder, 0, MOST_SHOWN), over=True)
    assert first == f"… 1.9 MiB of rank 0's output are not shown; all of it: nbddp log {folder.name}"
    assert (len(rest), rest[-1]) == (MOST_SHOWN // 32 - 1, f"{MOST_SHOWN - 1:07}")


def test_a_log_that_grows_faster_than_it_is_shown_lets_go(folder):
    piece = b"line\n" * AT_ONCE
    folder.log(0).write_bytes(piece)
    count = 0
    with folder.log(0).open("ab", buffering=0) as file:
        for count, _ in enumerate(new_lines(LogReader(folder, 0, sys.maxsize), over=False), start=1):
            if count % 1000 == 1:
                file.write(piece)
            assert count < 2 * AT_ONCE
    assert count >= AT_ONCE


@pytest.mark.parametrize(("over", "lines"), [(False, ["a"]), (True, ["a", "b"])])
def test_lines_to_show(folder, over, lines):
    folder.log(0).write_bytes(b"a\nb")
    assert list(new_lines(LogReader(folder, 0), over)) == lines
