"""A cell that waits can be interrupted at once, and a run outlives its kernel."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from nbddp.run.folder.folders import runs_in
from nbddp.run.run import Run
from tests.magics.conftest import CELLS, TAGS, TRAIN, end_runs, set_up
from tests.magics.kernel import Kernel

pytestmark = pytest.mark.thorough

LONG = "epochs = 5_000\nlr = 0.05"  # with an end, should it not be stopped
BEGUN = "the cell has begun"


def latest(folder: Path, known: int, condition: str = "training", seconds: float = 60) -> Run:
    """The run that comes after those known, as soon as it is in this phase and has a checkpoint."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        runs = runs_in(folder)
        if len(runs) > known and (run := Run.attach(runs[-1])).state.checkpoint and run.state.phase == condition:
            return run
        time.sleep(0.05)
    raise AssertionError("the run did not begin")


def test_an_interrupt_stops_the_run_and_leaves_the_kernel(kernel, folder):
    kernel.run(LONG, "parameters", TAGS["parameters"])
    known = len(runs_in(folder))
    asked = kernel.send(TRAIN, "train")
    run = latest(folder, known)
    kernel.interrupt()
    reply = kernel.result(asked)
    assert reply.status == "error"
    assert "was stopped. The notebook's own state is as it was before" in reply.error
    assert "--resume " in reply.error
    assert "Interrupted: the training is being stopped." in reply.text
    assert run.state.phase == "stopped"
    assert not run.processes()
    assert kernel.value("6 * 7") == "42"


def test_an_interrupt_at_any_time_leaves_no_run_behind(kernel, folder):
    kernel.run(LONG, "parameters", TAGS["parameters"])
    kernel.aside(f"get_ipython().events.register('pre_run_cell', begun := lambda info: print({BEGUN!r}, flush=True))")
    for delay in (0.0, 0.05, 0.2):
        asked = kernel.send(TRAIN, "train")
        while kernel.client.get_iopub_msg(timeout=30)["content"].get("text", "").strip() != BEGUN:
            pass  # before that, ipykernel 6 leaves an interrupted request without an answer
        time.sleep(delay)
        kernel.interrupt()
        assert kernel.result(asked).status == "error"
        assert kernel.value("6 * 7") == "42"
        assert not any(Run.attach(run).processes() for run in runs_in(folder))
    kernel.aside("get_ipython().events.unregister('pre_run_cell', begun)")


# One that comes in a finalizer: Python prints it and goes on.
FORGOTTEN = """\
import signal
class Finalized:
    def __del__(self): signal.raise_signal(signal.SIGINT)
def once(place, name, interrupt):
    own = getattr(place, name)
    def interrupted(*given, **named):
        setattr(place, name, own)
        interrupt()
        return own(*given, **named)
    setattr(place, name, interrupted)"""
STEPS = {
    "while the state is read": ("nbddp.magics.runs.train", "handover"),
    "while the state is written": ("nbddp.magics.runs.train", "_fill"),
    "while it is started": ("nbddp.run.engines.this_machine", "launch"),
    "behind the start": ("nbddp.magics.runs.train", "CellRun"),
    "while the view opens": ("nbddp.widget.run_view", "watch"),
    "while the cell waits": ("nbddp.widget.feed.Feed", "join"),
}


def at(kernel: Kernel, place: str, name: str, how: str) -> None:
    """The next call of this brings an interrupt first."""
    kernel.aside(f"{FORGOTTEN}\nimport pkgutil\nonce(pkgutil.resolve_name({place!r}), {name!r}, {how})")


def nothing_left(kernel: Kernel, folder: Path) -> bool:
    alive = any(Run.attach(run).processes() for run in runs_in(folder))
    return not alive and kernel.value("6 * 7") == "42"


@pytest.mark.parametrize(("place", "name"), STEPS.values(), ids=STEPS)
@pytest.mark.parametrize("options", ["", " --background"], ids=["waiting", "background"])
def test_an_interrupt_that_python_forgets_stops_the_run(kernel, folder, place, name, options):
    if options and name == "join":
        return
    kernel.run(LONG, "parameters", TAGS["parameters"])
    at(kernel, place, name, "Finalized")
    reply = kernel.result(kernel.send(TRAIN.replace("train", f"train{options}", 1), "train"))
    assert "RunStopped" in reply.error, reply
    assert nothing_left(kernel, folder)


@pytest.mark.parametrize("mode", ["ddp", "dp", "single"])
def test_an_interrupt_that_the_shell_forgets_stops_the_cell(kernel, folder, mode):
    """It comes in a callback of the shell's, before the magic is called."""
    kernel.aside(
        f"{FORGOTTEN}\ndef begun(info): signal.raise_signal(signal.SIGINT)\n"
        "get_ipython().events.register('pre_run_cell', begun)\nlosses = None"
    )
    reply = kernel.run(TRAIN.replace("ddp", mode, 1), "train")
    kernel.aside("get_ipython().events.unregister('pre_run_cell', begun)")
    assert reply.status == "error"
    assert ("RunStopped" if mode == "ddp" else "KeyboardInterrupt") in reply.error
    assert kernel.value("losses") == "None"
    assert nothing_left(kernel, folder)
    assert kernel.value("signal.getsignal(signal.SIGINT).__name__") == "default_int_handler"


def test_a_second_interrupt_ends_it_at_once(kernel, folder):
    kernel.run(LONG, "parameters", TAGS["parameters"])
    known = len(runs_in(folder))
    at(kernel, "nbddp.run.stop", "_stop_now", "lambda: signal.raise_signal(signal.SIGINT)")
    asked = kernel.send(TRAIN, "train")
    run = latest(folder, known)
    kernel.interrupt()
    assert "RunStopped" in kernel.result(asked).error
    assert run.state.phase == "killed"
    assert nothing_left(kernel, folder)


def test_an_interrupt_that_comes_too_late_ends_the_cell_with_its_result(kernel, folder):
    at(kernel, "nbddp.magics.runs.cell_run", "restore", "lambda: signal.raise_signal(signal.SIGINT)")
    reply = kernel.run(TRAIN, "train")
    assert "had ended: its result is complete" in reply.error
    assert kernel.value("len(losses), run.state.phase") == "3 done"


def test_finishing_the_epoch_brings_the_result_back(kernel, folder):
    kernel.run(LONG, "parameters", TAGS["parameters"])
    known = len(runs_in(folder))
    asked = kernel.send(TRAIN, "train")
    latest(folder, known).stop("epoch")
    reply = kernel.result(asked)
    assert reply.status == "ok", reply.error
    assert kernel.value("len(losses) == epoch + 1, run.state.phase") == "True stopped"


def test_a_run_outlives_its_kernel(tmp_path):
    kernel = Kernel(tmp_path)
    try:
        set_up(kernel)
        kernel.run(CELLS["parameters"].replace("3", "60"), "parameters", TAGS["parameters"])
        kernel.send(TRAIN, "train")
        run = latest(tmp_path, 0)
        os.kill(kernel.manager.provisioner.process.pid, signal.SIGKILL)  # type: ignore[union-attr]
        state = run.wait(60)
        assert state.phase == "done", run.failure
        assert len(state.history) == 60
        assert set(run.result().states) == {"model", "optimizer"}
    finally:
        kernel.end()
        end_runs(tmp_path)
