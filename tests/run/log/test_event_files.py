"""The events of several machines in the order of time."""

from __future__ import annotations

import json

import pytest

from nbddp.run.folder.folders import create
from nbddp.run.log import event_files, reading
from nbddp.run.log.event_files import EventReader
from nbddp.run.state.events import append


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(event_files, "LIST_EVERY", -1.0)  # each look finds all files
    folder = create(tmp_path, "run")
    folder.job.write_text("{}")
    return folder


def write(folder, host, *times):
    lines = "".join(json.dumps({"event": "step", "time": time, "host": host}) + "\n" for time in times)
    with (folder.path / f"events.{host}.jsonl").open("a") as file:
        file.write(lines)


def times(reader):
    return [event["time"] for event in reader.read()]


def test_two_files_are_one_story(folder):
    write(folder, "a", 1.0, 3.0)
    write(folder, "b", 2.0, 4.0)
    assert times(EventReader(folder)) == [1.0, 2.0, 3.0, 4.0]


def test_a_file_that_comes_later_is_found(folder):
    reader = EventReader(folder)
    write(folder, "a", 1.0)
    assert times(reader) == [1.0]
    write(folder, "b", 2.0)
    assert times(reader) == [2.0]
    assert times(reader) == []


def test_while_one_is_read_in_pieces_the_other_waits(folder, monkeypatch):
    monkeypatch.setattr(reading, "AT_ONCE", 100)
    write(folder, "a", *map(float, range(0, 100, 2)))
    write(folder, "b", *map(float, range(1, 20, 2)))
    reader, seen = EventReader(folder), []
    while piece := times(reader):
        seen += piece
    assert seen == sorted([*map(float, range(0, 100, 2)), *map(float, range(1, 20, 2))])


def test_each_machine_writes_a_file_of_its_own(folder, monkeypatch):
    for host in ("n1", "n2"):
        monkeypatch.setattr("platform.node", lambda host=host: host)
        append(folder, "stopping", grade="now")
    assert [path.name for path in folder.event_files] == ["events.jsonl", "events.n1.jsonl", "events.n2.jsonl"]
    assert [event["event"] for event in EventReader(folder).read()] == ["stopping", "stopping"]


def test_a_run_of_this_machine_has_one(tmp_path):
    folder = create(tmp_path, "local")
    append(folder, "launch")
    write(folder, "another", 1.0)
    assert [event["event"] for event in EventReader(folder).read()] == ["launch"]
