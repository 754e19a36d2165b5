"""A cell that waits can be interrupted at once, and a run outlives its kernel."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from nbddp.run.folders import runs_in
from nbddp.run.run import Run
from tests.magics.conftest import CELLS, TAGS, TRAIN, end_runs, set_up
from tests.magics.kernel import Kernel

LONG = "epochs = 100_000\nlr = 0.05"
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
