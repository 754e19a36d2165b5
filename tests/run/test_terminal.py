"""A run in words and on a terminal, and the verbs of the command line."""

import io
import math
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from rich.console import Console

from nbddp.run import verbs
from nbddp.run.folder.folders import runs_in
from nbddp.run.log.reading import LogReader
from nbddp.run.run import Run
from nbddp.run.start.command import RunOptions
from nbddp.run.state.fold import fold_all
from nbddp.run.state.state import RunState
from nbddp.run.state.words import curves_worth_showing, duration, headline, notes, number, rate, size, sparkline
from nbddp.run.terminal import _live, screen, show

PRETEND = Path(__file__).with_name("scripts") / "pretend.py"


def step(n, **more):
    place = {"epoch": 0, "batch": n, "batches": 10, "values": {"loss": 1.0 / n}, "memory": 3 << 30}
    return {"event": "step", "rank": 0, "time": 10.0 + n, "step": n, **place, **more}


@pytest.fixture
def state():
    """In its first epoch, with curves, a warning and a line that tries to be markup."""
    events = [
        {"event": "launch", "time": 10.0, "rank": None, "name": "digits", "start": "cold", "why_cold": "No torch."},
        {"event": "rank", "time": 10.0, "rank": 0, "world_size": 1, "pid": 1, "device": "cuda:0"},
        {"event": "epoch", "time": 10.0, "rank": 0, "epoch": 0, "epochs": 4},
        *(step(n) for n in range(1, 6)),
        {"event": "warning", "time": 11.0, "rank": 0, "message": "slow [loader]"},
        {"event": "warning", "time": 11.0, "rank": 0, "message": "slow [loader]"},
        {"event": "line", "time": None, "rank": 0, "text": "[bold]not markup[/bold]"},
    ]
    return fold_all(RunState(), events)


def drawn(state, width=100):
    console = Console(file=io.StringIO(), width=width, color_system=None)
    console.print(screen(state, 20.0, width))
    return console.file.getvalue()


def test_the_screen_shows_all_that_is_known(state):
    text = drawn(state)
    assert "digits · training · 0:10 · 1 steps/s" in text
    assert re.search(r"epoch .* 1/4\n", text)
    assert re.search(r"batch .* 5/10\n", text)
    assert re.search(r"loss +0.2 +█▄", text)
    assert "rank 0  cuda:0  training  step 5  3.0 GiB" in text
    assert "[bold]not markup[/bold]" in text
    assert "It started cold. No torch." in text
    assert "rank 0: slow [loader] (2 times)" in text


@pytest.mark.parametrize("width", [20, 40, 250])
def test_the_screen_fits_any_width(state, width):
    assert drawn(state, width)
    assert drawn(RunState(), width)


def test_numbers_are_short():
    assert [duration(s) for s in (None, 0, 7.9, 754, 3723)] == ["", "0:00", "0:07", "12:34", "1:02:03"]
    assert [size(n) for n in (None, 12, 2048, 5 << 20, 3 << 30, 4 << 40)] == [
        "",
        "12 B",
        "2.0 KiB",
        "5.0 MiB",
        "3.0 GiB",
        "4096 GiB",
    ]
    assert [number(v) for v in (0.000012345, 1.0, 12345678.0, math.nan)] == ["1.234e-05", "1", "1.235e+07", "nan"]
    assert [rate(RunState(rate=r)) for r in (None, 0.25, 12.0)] == ["", "4 s/step", "12 steps/s"]


def test_a_sparkline_fits_and_spans_its_values():
    assert sparkline([], 10) == sparkline([1.0], 0) == ""
    assert sparkline([5.0, 5.0], 10) == "▁▁"
    assert sparkline(list(range(8)), 8) == "▁▂▃▄▅▆▇█"
    line = sparkline([float(n) for n in range(1000)], 20)
    assert (len(line), line[-1]) == (20, "█")


def test_one_curve_of_a_name_is_shown_and_none_of_a_single_point(state):
    assert [curve.name for curve in curves_worth_showing(state)] == ["loss"]
    metrics = [{"event": "metrics", "rank": 0, "time": 20.0 + n, "epoch": n, "values": {"loss": 1.0}} for n in (0, 1)]
    shown = curves_worth_showing(fold_all(state, metrics))
    assert [(curve.name, curve.source) for curve in shown] == [("loss", "epoch")]


def test_the_end_is_told_without_rate_and_time_left(state):
    over = fold_all(state, [{"event": "exit", "rank": None, "time": 30.0, "status": 0, "signal": None}])
    assert headline(over, 99.0) == "digits · done · 0:20"


def test_nan_and_silence_are_notes(state):
    events = [step(6, values={"loss": math.nan}), {"event": "hang", "rank": None, "time": 90.0, "quiet": 61.0}]
    said = notes(fold_all(state, events))
    assert "loss is not a finite number since epoch 0, step 6." in said
    assert any("No progress for 1:01" in note for note in said)


def test_without_a_terminal_the_output_is_what_rank_0_prints(train, capfd):
    run = train(epochs=2)
    assert show(run) == 0
    seen = capfd.readouterr()
    assert re.fullmatch(r"epoch 0: loss [\d.]+\nepoch 1: loss [\d.]+\n", seen.out)
    assert "test · done" in seen.err
    assert str(run.folder.path) in seen.err


def test_a_failure_is_told_on_standard_error_with_the_runs_status(train, capfd):
    run = train("raise1")
    assert show(run) == 1
    assert "rank 1: ValueError: bad label on rank 1" in capfd.readouterr().err


def test_on_a_terminal_lines_scroll_above_the_picture(train):
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, width=100)
    run = train(epochs=2)
    _live(run, LogReader(run.folder, 0), console)
    assert re.search(r"epoch 1: loss [\d.]+", out.getvalue())
    assert "rank 1" in out.getvalue()
    assert "done" in out.getvalue()


RUN = """
import signal, sys
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # where the tests run by nohup it is ignored, and that is handed on
from pathlib import Path
from nbddp.run import verbs
from nbddp.run.start.command import RunOptions
script = Path(sys.argv[1]).read_text()
sys.exit(verbs.run(script, "cli", RunOptions(arguments=tuple(sys.argv[2:])), root=Path.cwd()))
"""


@pytest.fixture
def shell(tmp_path, wait_until):
    """The command in a shell, and its run, once it trains."""
    words = [sys.executable, "-c", RUN, str(PRETEND), "--epochs", "3", "--batches", "1000", "--pause", "0.05"]
    environ = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    shell = subprocess.Popen(words, cwd=tmp_path, stdout=-1, stderr=-1, text=True, env=environ)
    try:
        (folder,) = wait_until(lambda: runs_in(tmp_path), 30)
        run = Run.attach(folder)
        wait_until(lambda: run.state.step >= 2, 60)
        yield shell, run
    finally:
        shell.kill()
        shell.communicate()
        run.stop("kill")


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
def test_a_command_that_is_ended_takes_its_run_along(shell, wait_until, number):
    command, run = shell
    command.send_signal(number)
    wait_until(lambda: not run.processes(), 30)  # three seconds, where nothing else is going on
    assert (run.state.phase, run.state.stop) == ("stopped", "now")


def test_three_interrupts_at_once_kill_it(shell, wait_until):
    command, run = shell
    for _ in range(3):
        command.send_signal(signal.SIGINT)
        time.sleep(0.03)  # the system makes one of several that come before the first is seen
    _, said = command.communicate(timeout=10)
    assert not run.processes()
    assert run.state.phase in {"stopped", "killed"}
    assert "Traceback" not in said


def test_ctrl_c_in_a_shell_finishes_the_epoch_then_stops(shell, wait_until):
    command, run = shell
    command.send_signal(signal.SIGINT)
    wait_until(lambda: run.state.phase == "finishing-epoch", 10)
    command.send_signal(signal.SIGINT)
    _, said = command.communicate(timeout=30)
    assert "Finishing this epoch; Ctrl-C again stops now." in said
    assert run.wait(5).phase == "stopped"
    assert command.returncode == 143
    assert run.processes() == []


def test_verbs_of_a_run_from_start_to_deletion(tmp_path, capsys):
    options = RunOptions(arguments=("--epochs", "1"))
    assert verbs.runs(tmp_path) == 0
    assert verbs.run(PRETEND.read_text(), "first", options, root=tmp_path, background=True) == 0
    assert "see it with: nbddp attach" in capsys.readouterr().out
    assert verbs.attach(tmp_path, "first") == 0
    assert verbs.stop(tmp_path) == 0
    assert "is not running" in capsys.readouterr().out
    assert verbs.log(tmp_path, "first") == 0
    assert re.search(r"^epoch 0: loss", capsys.readouterr().out, re.MULTILINE)
    assert verbs.log(tmp_path, "first", rank=7) == 1
    assert "no log of rank 7: there are logs of 0" in capsys.readouterr().err
    assert verbs.runs(tmp_path) == 0
    assert re.search(r"first +done +\d+:\d\d +epoch 1/1 +loss ", capsys.readouterr().out)
    assert verbs.runs(tmp_path, keep=0) == 0
    assert "There are no runs" in capsys.readouterr().out


def test_a_launch_that_cannot_be_is_refused_with_all_its_reasons(tmp_path, capsys):
    options = RunOptions(nproc=0, resume="/no/such.pt")
    assert verbs.run(PRETEND.read_text(), "x", options, root=tmp_path) == 2
    assert len(capsys.readouterr().err.splitlines()) == 2
    assert not (tmp_path / ".nbddp").exists()
