"""Rows of runs, for a page that asks for them every other second."""

from __future__ import annotations

import json

import pytest

from nbddp.run.folder.folders import create
from nbddp.server import folders as under_test
from nbddp.server.folders import Folders

LAUNCH = {"event": "launch", "time": 1.0, "nproc": 2}
END = {"event": "exit", "time": 9.0, "status": 0}


@pytest.fixture
def looked_at(monkeypatch):
    """Names of the runs whose events were read."""
    names = []
    monkeypatch.setattr(under_test, "glance", lambda run, read=under_test.glance: names.append(run.name) or read(run))
    return names


def write(run, *events) -> None:
    with run.events.open("a") as file:
        file.writelines(f"{json.dumps(event)}\n" for event in events)


def test_of_a_run_that_has_ended_the_events_are_read_once(tmp_path, looked_at):
    run = create(tmp_path, "digits")
    write(run, LAUNCH, END)
    folders = Folders(tmp_path)
    (first,) = folders.rows([""])
    (again,) = folders.rows([""])
    assert first["phase"] == "done"
    assert {**again, "now": first["now"]} == first
    assert looked_at == [run.name]


def test_what_is_written_later_is_seen(tmp_path, looked_at):
    run = create(tmp_path, "digits")
    write(run, LAUNCH, {**END, "status": 1})
    folders = Folders(tmp_path)
    assert folders.rows([""])[0]["phase"] == "failed"
    write(run, {"event": "epoch", "time": 10.0, "rank": 0, "epoch": 4, "epochs": 9})
    assert folders.rows([""])[0]["epoch"] == 4
    assert looked_at == [run.name] * 2


def test_one_that_seems_lost_is_looked_at_again(tmp_path, looked_at, monkeypatch):
    monkeypatch.setattr("nbddp.run.engines.this_machine.why_lost", lambda _: "Its processes have gone.")
    run = create(tmp_path, "digits")
    write(run, LAUNCH)
    folders = Folders(tmp_path)
    before = folders.rows([""])[0]["phase"]
    run.reserve.write_text(f"{json.dumps(END)}\n")
    assert before == "lost"
    assert folders.rows([""])[0]["phase"] == "done"
    assert len(looked_at) == 2
