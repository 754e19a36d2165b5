"""The three grades of stop, from this process and from any other; each leaves no process of the run behind."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from nbddp.run.folder.folders import create, runs_in
from nbddp.run.processes.process import alive, identify
from nbddp.run.run import Run
from nbddp.run.stop import stop, withdraw
from nbddp.run.supervision.leader import _claim, leader_of


@pytest.fixture
def endless(train, wait_until):
    """A run that trains until it is stopped: for two minutes, where it never is."""

    def start(**options):
        run = train(epochs=4_000, pause=0.01, **options)
        wait_until(lambda: run.state.step >= 2, 60)
        return run

    return start


def test_finishing_the_epoch_delivers_the_result(endless):
    run = endless()
    assert run.stop("epoch") == []
    state = run.wait(30)
    assert (state.phase, state.stop, state.exit.status) == ("stopped", "epoch", 0)
    assert state.epoch < 3_999
    assert state.step % 3 == 0
    assert run.load("steps") == state.step
    assert run.failure is None
    assert run.processes() == []


@pytest.mark.parametrize("start", ["warm", pytest.param("cold", marks=pytest.mark.thorough)])
@pytest.mark.parametrize(("grade", "phase"), [("now", "stopped"), ("kill", "killed")])
def test_harder_grades_end_all_processes_before_they_return(endless, grade, phase, start):
    if (start, grade) == ("cold", "kill"):
        pytest.skip("the same code as for a warm start, and cold starts take their time")
    run = endless(start=start)
    began = time.monotonic()
    assert run.stop(grade) == []
    assert time.monotonic() - began < 8
    assert run.processes() == []
    state = run.wait(5)
    assert (state.phase, state.stop) == (phase, grade)
    assert (run.failure is None) == (grade == "now")


def test_ranks_that_do_not_end_when_asked_are_killed_after_the_grace(train, wait_until):
    run = train("stubborn1")
    wait_until(lambda: run.state.step >= 2)
    assert run.stop("now") == []
    assert run.processes() == []


def test_a_supervisor_that_does_not_answer_is_killed_and_the_run_is_stopped_not_lost(endless, monkeypatch):
    monkeypatch.setattr("nbddp.run.stop.KILL_WITHIN", -4.5)  # of the five seconds of grace half of one is left
    run = endless()
    os.kill(leader_of(run.folder).pid, signal.SIGSTOP)
    assert run.stop("now") == []
    assert run.processes() == []
    state = run.wait(5)
    assert (state.phase, state.stop, state.lost) == ("stopped", "now", "")
    assert "did not end when asked" in state.exit.cause


def test_stopping_a_run_that_is_over_changes_nothing(train):
    run = train(epochs=1)
    before = run.wait(30)
    for grade in ("epoch", "now", "kill"):
        assert run.stop(grade) == []
    assert Run.attach(run.folder).state == before
    assert before.phase == "done"


def test_an_unknown_grade_is_refused_before_anything_happens(endless):
    run = endless()
    with pytest.raises(ValueError, match=r"softly.*epoch, now, kill"):
        run.stop("softly")
    assert alive(leader_of(run.folder))
    run.stop("kill")


def test_another_process_can_stop_it(endless):
    run = endless()
    code = "import sys; from nbddp.run.run import Run; Run.attach(sys.argv[1]).stop('now')"
    subprocess.run([sys.executable, "-c", code, str(run.folder.path)], check=True, timeout=30)
    assert run.wait(5).phase == "stopped"
    assert run.processes() == []


def test_sigterm_to_the_supervisor_stops_the_run(endless):
    run = endless()
    os.kill(leader_of(run.folder).pid, signal.SIGTERM)
    state = run.wait(15)
    assert (state.phase, state.stop) == ("stopped", "now")
    assert run.processes() == []


def test_a_withdrawn_start_leaves_nothing_and_cannot_be_taken_up_any_more(tmp_path):
    folder = create(tmp_path, "x")
    withdraw(folder)
    assert runs_in(tmp_path) == []
    with pytest.raises(FileNotFoundError):
        _claim(folder)


def test_a_run_can_be_taken_only_once(tmp_path):
    folder = create(tmp_path, "x")
    _claim(folder)
    with pytest.raises(FileExistsError):
        _claim(folder)


def test_a_process_that_is_none_of_the_runs_is_spared_whatever_its_folder_says(tmp_path):
    folder = create(tmp_path, "forged")
    other = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], start_new_session=True)
    try:
        folder.supervisor.write_text(json.dumps(identify(other.pid).as_json()))
        assert leader_of(folder).pid == other.pid
        assert Run.attach(folder).processes() == []
        for grade in ("epoch", "now", "kill"):
            assert stop(folder, grade) == []
        withdraw(folder)
        assert other.poll() is None
    finally:
        other.kill()
        other.wait()


def test_a_run_is_known_through_a_link_to_its_folders(train, tmp_path, wait_until):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / ".nbddp").symlink_to(tmp_path / "elsewhere")
    run = train(epochs=4_000, pause=0.01)
    wait_until(lambda: run.state.step >= 2)
    assert len(run.processes()) >= 4
    assert run.stop("kill") == []
    assert run.processes() == []


def test_stop_spares_a_process_that_got_the_supervisors_number(train, tmp_path):
    run = train(epochs=1)
    run.wait(30)
    other = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], start_new_session=True)
    try:
        leader = leader_of(run.folder)
        text = run.folder.supervisor.read_text().replace(str(leader.pid), str(other.pid))
        run.folder.supervisor.write_text(text)
        assert run.processes() == []
        assert stop(run.folder, "kill") == []
        assert other.poll() is None
    finally:
        other.kill()
        other.wait()
