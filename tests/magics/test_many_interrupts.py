"""Interrupts at random moments of a cell, on a machine with too much to do, in a kernel where they get lost easily."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from nbddp.run.folder.folders import runs_in
from nbddp.run.run import Run
from tests.magics.conftest import TAGS, TRAIN, end_runs, set_up
from tests.magics.kernel import Kernel

# With an end, should an interrupt get lost all the same; long beyond the last moment at which one comes.
LONG = "epochs = 1_500\nlr = 0.05"
BEGUN = "the cell has begun"
LATEST = 1.5  # seconds after the cell's beginning: the wait has begun by then, or is about to

# What some profilers do. Python prints an exception that comes in a callback of its garbage collector, and goes on.
COLLECTING = """\
import gc
def lengthy(phase, info): sum(range(4_000))
gc.callbacks.append(lengthy)"""

# What some extensions do. IPython prints an interrupt that comes in a callback of its events, and runs the cell.
BEGINNING = f"""\
def begun(info):
    print({BEGUN!r}, flush=True)
    sum(range(200_000))
get_ipython().events.register('pre_run_cell', begun)"""

BUSY = """\
import os, sys, time
parent, until = int(sys.argv[1]), time.monotonic() + 3600
while os.getppid() == parent and time.monotonic() < until:
    sum(range(1_000_000))"""


@pytest.fixture
def busy() -> Iterator[None]:
    """Four other processes keep the cores busy; each ends with this one at the latest."""
    import os

    processes = [subprocess.Popen([sys.executable, "-I", "-S", "-c", BUSY, str(os.getpid())]) for _ in range(4)]
    yield
    for process in processes:
        process.kill()
        process.wait()


@pytest.fixture
def crowded(tmp_path: Path) -> Iterator[Kernel]:
    kernel = Kernel(tmp_path)
    try:
        set_up(kernel)
        assert kernel.value("get_ipython()._nbddp_session.helper.wait_until_ready(120)") == "True"
        kernel.run(LONG, "parameters", TAGS["parameters"])
        kernel.aside(COLLECTING)
        kernel.aside(BEGINNING)
        yield kernel
    finally:
        kernel.end()
        end_runs(tmp_path)


def interrupt_at_random(kernel: Kernel, moment: random.Random) -> str:
    """One cell, and what went wrong with it; now and then it is interrupted twice."""
    delays = [moment.uniform(0.0, LATEST), *([moment.uniform(0.0, 0.5)] if moment.random() < 0.25 else [])]
    asked = kernel.send(TRAIN, "train")
    while kernel.client.get_iopub_msg(timeout=60)["content"].get("text", "").strip() != BEGUN:
        pass  # before that, ipykernel 6 leaves an interrupted request without an answer
    for delay in delays:
        time.sleep(delay)
        kernel.interrupt()
    said = _said(kernel, asked)
    stopped = "RunStopped" in said or "KeyboardInterrupt" in said
    # A second one may come when the cell has ended: ipykernel is then still busy with the error, and gives that up.
    return "" if stopped or (len(delays) == 2 and "<Run" not in said) else f"{delays}: {said}"


def _said(kernel: Kernel, asked: str) -> str:
    """The error or the result of a cell, as soon as the kernel is free again."""
    said = ""
    while True:
        message = kernel.client.get_iopub_msg(timeout=200)
        content = message["content"]
        if message["parent_header"].get("msg_id") != asked:
            continue
        if content.get("execution_state") == "idle":
            return said
        said += "\n".join(content.get("traceback", ()))
        if message["msg_type"] == "execute_result":
            said += str(content["data"]["text/plain"])


@pytest.mark.parametrize("count", [10, pytest.param(300, marks=[pytest.mark.thorough, pytest.mark.timeout(3600)])])
def test_interrupts_at_random_moments_each_end_the_cell_and_leave_no_run(crowded, busy, tmp_path, count):
    for seed in range(count):
        wrong = interrupt_at_random(crowded, random.Random(seed))
        assert not wrong, f"interrupt {seed} got lost, {wrong}"
        left = [folder.name for folder in runs_in(tmp_path) if Run.attach(folder).processes()]
        assert not left, f"interrupt {seed} left {left}"
        assert crowded.value("6 * 7") == "42"
