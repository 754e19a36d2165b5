"""Faults, with real processes: each is told rightly, and each leaves no process behind."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from nbddp.run.folder.folders import runs_in
from nbddp.run.run import Run
from nbddp.run.start.command import RunOptions
from nbddp.run.start.warm import WarmHelper
from nbddp.run.supervision.leader import leader_of

SCRIPTS = Path(__file__).with_name("scripts")
LONG = 4_000  # epochs: two minutes with their pauses, so that none trains for ever where a test fails
STARTER = """
import os, signal, sys, time
from pathlib import Path
from nbddp.run.start.command import RunOptions
from nbddp.run.run import Run
script, options = Path(sys.argv[1]).read_text(), RunOptions(arguments=("--epochs", "800", "--pause", "0.05"))
try:
    print("starting", flush=True)
    run = Run.start(script, "x", options)
except KeyboardInterrupt:
    print("none", flush=True)
else:
    print(run.name, flush=True)
    while True:
        time.sleep(0.05)  # signal.pause() would not see an interrupt that comes just before it
"""


def starter(place, code=STARTER):
    """A process that starts a cold run and then waits."""
    words = [sys.executable, "-c", code, str(SCRIPTS / "pretend.py")]
    environ = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    return subprocess.Popen(words, cwd=place, stdout=subprocess.PIPE, text=True, env=environ)


STARTS = pytest.mark.parametrize("start", ["warm", pytest.param("cold", marks=pytest.mark.thorough)])


def training(run):
    """The state once both ranks train; None before."""
    state = run.state
    assert not state.over, run.failure
    return state if len(state.ranks) == 2 and state.step >= 2 else None


def failed(run, seconds=60):
    """The failure of a run that ends by itself, leaving nothing."""
    state = run.wait(seconds)
    assert state.over, f"it is still {state.phase}"
    assert run.processes() == []
    return run.failure


@STARTS
def test_an_exception_on_rank_1_while_rank_0_waits_is_told_with_its_lines(train, start):
    run = train("raise1", start=start)
    failure = failed(run, 60)
    assert (failure.rank, failure.type, failure.message) == (1, "ValueError", "bad label on rank 1")
    assert [frame.function for frame in failure.frames] == ["run_rank", "train", "happen"]
    assert "raise ValueError" in failure.frames[-1].source
    assert (run.state.phase, run.state.exit.status) == ("failed", 1)


def test_an_exception_on_rank_0_ends_rank_1(train):
    assert failed(train("raise0")).message == "bad label on rank 0"


def test_of_two_failures_the_first_is_named(train):
    run = train("raise-all")
    failure = failed(run)
    first = min((f for f in run.state.failures if not f.victim), key=lambda f: f.time)
    assert failure.rank == first.rank
    assert failure.message == f"bad label on rank {first.rank}"


@STARTS
def test_a_killed_rank_is_named_with_its_signal_and_the_likely_cause(train, start):
    run = train("kill1", start=start)
    failure = failed(run, 60)
    assert (failure.rank, failure.type) == (1, "SIGKILL")
    assert "memory" in failure.cause
    assert run.state.ranks[1].phase == "killed"


def test_a_crash_in_native_code_is_named_and_its_stack_logged(train):
    run = train("crash1")
    failure = failed(run)
    assert (failure.rank, failure.type) == (1, "SIGSEGV")
    assert any("Segmentation fault" in line for line in failure.log)


def test_a_rank_that_leaves_with_a_sentence_is_told_by_its_log(train):
    failure = failed(train("leave1"))
    assert failure.rank == 1
    assert "batch size 50 does not divide among 3 processes" in failure.text


def test_ranks_that_refuse_to_end_are_killed_when_another_has_failed(train):
    run = train("stubborn1")
    failure = failed(run)
    assert (failure.rank, failure.message) == (1, "bad label on rank 1")
    error = next(f for f in run.state.failures if f.rank == 1)
    assert run.state.ended - error.time < 12.0


@STARTS
def test_a_killed_supervisor_takes_its_ranks_along(train, wait_until, start):
    run = train(start=start, epochs=LONG, pause=0.01)
    wait_until(lambda: training(run), 60)
    os.kill(leader_of(run.folder).pid, signal.SIGKILL)
    failure = failed(run)
    assert run.state.phase == "killed"
    assert "supervised the run was killed" in failure.text


def test_a_killed_supervisor_and_warden_are_no_lasting_harm_either(train, wait_until):
    run = train(epochs=LONG, pause=0.01)
    wait_until(lambda: training(run))
    leader = leader_of(run.folder).pid
    ranks = {rank.pid for rank in run.state.ranks.values()}
    children = [entry for entry in run.processes() if entry.parent == leader]
    main = {entry.pid for entry in children if entry.group == entry.pid}  # of which the supervisor would tell the end
    warden = {entry.pid for entry in children} - ranks - main
    assert len(warden) == 1
    for pid in (*warden, leader):
        os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not run.processes() and run.state.phase == "lost")
    assert run.failure.phase == "lost"


def test_a_killed_main_process_takes_its_ranks_along(train, wait_until):
    run = train(epochs=LONG, pause=0.01)
    state = wait_until(lambda: training(run))
    leader = leader_of(run.folder).pid
    main = next(e.pid for e in run.processes() if e.parent == leader and e.group == e.pid)
    assert main not in {rank.pid for rank in state.ranks.values()}
    os.kill(main, signal.SIGKILL)
    assert failed(run) is not None
    assert run.state.exit.signal == "SIGKILL"


@pytest.mark.thorough
def test_the_culprit_is_right_in_20_of_20(train):
    for _ in range(5):
        runs = [train(happen) for happen in ("raise1", "raise-all", "raise1", "raise0")]
        for run, ranks in zip(runs, ({1}, {0, 1}, {1}, {0}), strict=True):
            failure = failed(run)
            told = {error.rank: error.time for error in run.state.failures if error.type == "ValueError"}
            assert set(told) == ranks
            assert failure.rank == min(told, key=told.get)


@pytest.mark.thorough
def test_an_interrupt_while_it_starts_leaves_nothing(tmp_path, wait_until):
    for delay in range(0, 100, 10):
        place = tmp_path / str(delay)
        place.mkdir()
        process = starter(place)
        assert process.stdout.readline() == "starting\n"
        time.sleep(delay / 1000)  # the moment of the interrupt is what is tested
        process.send_signal(signal.SIGINT)
        kept = process.communicate(timeout=30)[0].strip()
        for folder in runs_in(place):
            if kept != "none":
                Run(folder).stop("kill")
            wait_until(lambda folder=folder: not Run(folder).processes(), 10)


def test_an_interrupt_just_behind_the_start_leaves_nothing(tmp_path, monkeypatch, wait_until):
    def interrupted(_):
        raise KeyboardInterrupt

    script = (SCRIPTS / "pretend.py").read_text()
    options = RunOptions(arguments=("--epochs", "1000", "--pause", "0.05"))
    with monkeypatch.context() as patched:
        patched.setattr("nbddp.run.run.Watch", interrupted)
        with pytest.raises(KeyboardInterrupt):
            Run.start(script, "x", options, root=tmp_path)
    (folder,) = runs_in(tmp_path)
    try:
        wait_until(lambda: not Run(folder).processes(), 10)
        assert Run(folder).state.over
    finally:
        Run(folder).stop("kill")


def test_a_killed_starter_of_a_cold_run_leaves_the_run_alone(tmp_path):
    process = starter(tmp_path)
    assert process.stdout.readline() == "starting\n"
    run = Run.attach(tmp_path / ".nbddp" / "runs" / process.stdout.readline().strip())
    process.kill()
    process.communicate()
    assert run.processes()
    run.stop("epoch")
    assert run.wait(10).phase == "stopped"
    assert run.processes() == []


@pytest.mark.thorough
def test_a_killed_helper_leaves_its_runs_alone_and_the_next_run_starts_cold(train, wait_until, tmp_path):
    helper = WarmHelper.start()
    assert helper.wait_until_ready(60)
    try:
        run = train(helper=helper, epochs=100, pause=0.01)
        wait_until(lambda: training(run))
        os.kill(helper.process.pid, signal.SIGKILL)
        second = train(helper=helper)
        assert run.wait(30).phase == "done"
        state = second.wait(60)
        assert (state.phase, state.start) == ("done", "cold")
        assert "helper process had ended" in state.why_cold
    finally:
        helper.close()


def test_a_daemon_that_left_the_session_is_ended_with_the_run(train, wait_until):
    run = train("daemon", epochs=1)
    assert run.wait(30).phase == "done"
    assert run.processes() == []


def test_nan_is_shown_with_epoch_and_step(train):
    state = train("nan").wait(30)
    assert (state.phase, state.nan.name, state.nan.epoch, state.nan.step) == ("done", "loss", 0, 1)


def test_two_runs_at_once_do_not_meet(train):
    first, second = train(epochs=5, pause=0.01), train(epochs=5, pause=0.01)
    assert (first.wait(30).phase, second.wait(30).phase) == ("done", "done")
    assert first.folder != second.folder
    assert first.history[-1]["mean_loss"] == second.history[-1]["mean_loss"]


@STARTS
def test_an_error_of_the_main_process_itself_is_told_with_its_cell(tmp_path, helper, start):
    lines = [{"script": 2, "cell": 4, "line": 1, "source": "import no_such_module"}]
    chosen = helper if start == "warm" else None
    run = Run.start("x = 1\nimport no_such_module\n", "x", root=tmp_path, helper=chosen, line_map=lines)
    failure = failed(run)
    assert (failure.rank, failure.type) == (None, "ModuleNotFoundError")
    assert [(frame.cell, frame.cell_line) for frame in failure.frames] == [(4, 1)]
    assert run.folder.stderr.read_text().splitlines()[-1] == "ModuleNotFoundError: No module named 'no_such_module'"
    assert "inside.py" not in run.folder.stderr.read_text()


@STARTS
def test_a_script_that_is_no_python_is_told_as_such(tmp_path, helper, start):
    run = Run.start("x = = 1\n", "x", root=tmp_path, helper=helper if start == "warm" else None)
    assert failed(run).type == "SyntaxError"


def test_a_run_that_dies_early_shows_what_its_main_process_said(train, tmp_path):
    failure = failed(train(happening="x"))
    assert failure.rank is None
    assert "unrecognized arguments: --happening x" in failure.text
