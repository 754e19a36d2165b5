"""Who has a run."""

import json

from nbddp.run.folder.folders import create
from nbddp.run.processes.process import ProcessId
from nbddp.run.supervision.leader import announce, leader_of


def test_a_damaged_supervisor_file_is_nobody(tmp_path):
    folder = create(tmp_path, "a")
    for text in ("", "{", "[]", "3", '{"pid": "1"}', '{"pid": "x", "started": 1, "boot": 2, "host": 3}'):
        folder.supervisor.write_text(text)
        assert leader_of(folder) is None


def test_who_has_taken_it_is_known_and_of_a_run_that_nobody_took_nobody(tmp_path):
    folder = create(tmp_path, "a")
    assert leader_of(folder) is None
    me = ProcessId(pid=7, started="1", boot="b", host="h")
    folder.supervisor.write_text(json.dumps(me.as_json()))
    assert leader_of(folder) == me


def test_the_first_event_says_how_it_was_started_and_nothing_of_the_environment(tmp_path):
    folder = create(tmp_path, "a")
    folder.write_command({"name": "x", "nproc": 2, "start": "warm", "secret": "1"})
    announce(folder, ProcessId(pid=7, started="1", boot="b", host="h"))
    event = json.loads(folder.events.read_text())
    assert (event["event"], event["pid"], event["name"], event["nproc"]) == ("launch", 7, "x", 2)
    assert "secret" not in event
