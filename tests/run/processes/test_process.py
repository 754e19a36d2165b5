"""Processes told apart for good, and sessions ended whole."""

import os
import signal
import subprocess
import sys
import time

import pytest

from nbddp.run.processes import process as processes
from nbddp.run.processes.process import alive, descendants, from_json, identify, look_up, send, snapshot
from nbddp.run.processes.session import end, members

SLEEP = "import time; time.sleep(60)"
FAMILY = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', '{SLEEP}']); {SLEEP}"


@pytest.fixture
def start():
    """Processes that are gone after the test."""
    started = []

    def start(code=SLEEP, **options):
        started.append(subprocess.Popen([sys.executable, "-c", code], start_new_session=True, **options))
        return started[-1]

    yield start
    for child in started:
        child.kill()
        child.wait()


def test_a_process_is_itself_and_not_another_with_its_number(start):
    child = start()
    known = identify(child.pid)
    assert alive(known)
    assert from_json(known.as_json()) == known
    assert not alive(from_json({**known.as_json(), "started": "1"}))
    assert not alive(from_json({**known.as_json(), "boot": "another"}))
    child.kill()
    child.wait()
    assert not alive(known)
    assert look_up(child.pid) is None


def test_a_zombie_is_not_alive(start, wait_until):
    child = start("pass")
    wait_until(lambda: look_up(child.pid) is None or look_up(child.pid).dead)
    known = identify(child.pid)
    assert known is not None
    assert not alive(known)


def test_a_command_of_any_name_is_parsed():
    entry = processes._parse(7, "7 (a) b ( 3 R) S 1 7 9 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 4242 0")
    assert (entry.parent, entry.group, entry.session, entry.state, entry.started) == (1, 7, 9, "S", "4242")


def test_a_signal_goes_to_nobody_else(start):
    child = start()
    entry = look_up(child.pid)
    send(type(entry)(entry.pid, entry.parent, entry.group, entry.session, entry.state, "1"), signal.SIGKILL)
    assert look_up(child.pid) == look_up(child.pid)
    assert child.poll() is None
    send(entry, signal.SIGTERM)
    assert child.wait(10) == -signal.SIGTERM
    send(entry, signal.SIGTERM)


def test_members_are_the_session_and_what_descends_from_its_leader(start, tmp_path, wait_until):
    child = start(FAMILY, env={**os.environ, "NBDDP_EVENTS": str(tmp_path / "events.jsonl")})
    leader = identify(child.pid)
    wait_until(lambda: len(members(leader, tmp_path)) == 2)
    assert members(leader, tmp_path / "another") == []
    family = {entry.pid for entry in members(leader, tmp_path)}
    assert family == {child.pid} | {entry.pid for entry in descendants(child.pid, snapshot())}
    assert os.getpid() not in family
    assert end(lambda: members(leader, tmp_path), grace=5.0) == []
    assert child.wait(5) == -signal.SIGTERM


def test_of_a_session_without_its_leader_only_proven_members_are_found(start, tmp_path, wait_until):
    run = tmp_path / "run"
    run.mkdir()
    for environ, found in (({"NBDDP_EVENTS": str(run / "events.jsonl")}, 1), ({"NBDDP_EVENTS": str(tmp_path)}, 0)):
        child = start(FAMILY, env={**os.environ, **environ})
        leader = identify(child.pid)
        wait_until(lambda leader=leader: len(members(leader, run, inside=True)) == 2)
        assert len(members(leader, run)) == 2 * found
        child.kill()
        child.wait()
        assert len(members(leader, run)) == found
        orphans = members(leader, run, inside=True)
        assert len(orphans) == 1
        assert end(lambda leader=leader: members(leader, run, inside=True), grace=5.0) == []


def test_who_ignores_the_asking_is_killed_after_the_grace(start, tmp_path, wait_until):
    child = start(
        "import signal, time; signal.signal(15, signal.SIG_IGN); print('x', flush=True); time.sleep(60)", stdout=-1
    )
    child.stdout.read(1)
    leader = identify(child.pid)
    began = time.monotonic()
    assert end(lambda: members(leader, tmp_path, inside=True), grace=0.5) == []
    assert 0.5 <= time.monotonic() - began < 5
    assert child.wait(5) == -signal.SIGKILL
    child.stdout.close()


def test_where_there_is_no_proc_ps_tells_the_same(start, monkeypatch, tmp_path):
    if subprocess.run(["which", "ps"], capture_output=True, check=False).returncode:
        pytest.skip("no ps here")
    child = start()
    true = look_up(child.pid)
    monkeypatch.setattr(processes, "PROC", tmp_path)
    listed = look_up(child.pid)
    assert (listed.parent, listed.group, listed.session) == (true.parent, true.group, true.session)
    assert not listed.dead
    assert alive(identify(child.pid)) or processes.boot() == ""
