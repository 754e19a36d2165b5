"""`%ddp verify` in a kernel: from the live state, which it leaves alone to the bit."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from tests.magics.conftest import CELLS, TAGS, TRAIN

pytestmark = pytest.mark.thorough

STATE = """\
import hashlib, random, numpy, io
def _state():
    held = io.BytesIO()
    torch.save([model.state_dict(), optimizer.state_dict(), torch.get_rng_state()], held)
    return hashlib.sha256(held.getvalue() + repr((random.getstate(), numpy.random.get_state())).encode()).hexdigest()"""


def test_from_the_live_state_which_stays_as_it_is(kernel):
    kernel.run(TRAIN, "train")
    kernel.aside(STATE)
    before = kernel.value("_state()")
    reply = kernel.run("%ddp verify --steps 6", timeout=200)
    assert reply.status == "ok", reply.error
    assert "same within rounding" in reply.result
    assert "Both sides started from the notebook's current state of: model, optimizer." in reply.result
    assert kernel.value("_state()") == before
    page = kernel.value("_.__class__.__name__, _._repr_html_().count('data:image/svg+xml')")
    assert page == "Report 1"


def test_what_it_cannot_compare_leaves_the_state_alone(kernel):
    """A training shorter than the steps asked for, and one that does not fit into memory twice."""
    limited = TRAIN.replace("losses = []", "if too_large:\n    raise torch.OutOfMemoryError('no room')\nlosses = []")
    assert limited != TRAIN
    parameters = CELLS["parameters"]
    kernel.run(f"{parameters}\ntoo_large = 0", "parameters", TAGS["parameters"])
    kernel.run(limited, "train")
    kernel.aside(STATE)
    before = kernel.value("_state()")
    reply = kernel.run("%ddp verify --steps 500", timeout=200)
    assert "has 24 steps, fewer than the requested 500" in reply.result, reply
    kernel.run(f"{parameters}\ntoo_large = 1", "parameters", TAGS["parameters"])
    reply = kernel.run("%ddp verify --steps 6", timeout=200)
    assert "memory ran out: no room; make the batch smaller, or use fewer processes (--nproc)." in reply.error, reply
    assert kernel.value("_state()") == before


def test_interrupted_it_says_so_and_leaves_no_process(kernel, folder):
    kernel.run(TRAIN, "train")
    kernel.run("epochs = 5000\nlr = 0.05", "parameters", TAGS["parameters"])
    kernel.aside(STATE)
    before = kernel.value("_state()")
    asked = kernel.send("%ddp verify --steps 20000")
    _until(lambda: _verifying(folder))
    kernel.interrupt()
    reply = kernel.result(asked, timeout=100)
    assert reply.status == "error"
    assert "Interrupted: its processes were stopped, and nothing was compared." in reply.error
    _until(lambda: not _verifying(folder))
    assert kernel.value("_state()") == before


def _verifying(folder: Path) -> list[psutil.Process]:
    """The processes of a verification that this folder's kernel has asked for, whoever their parent is by now."""
    return [process for process in psutil.process_iter() if _of_verification(process, folder)]


def _of_verification(process: psutil.Process, folder: Path) -> bool:
    """By the notebook that the kernel's environment names, and by where its output goes."""
    try:
        ours = process.environ().get("JPY_SESSION_NAME", "").startswith(str(folder))
        return ours and any("/nbddp-verify-" in file.path for file in process.open_files())
    except psutil.Error:
        return False


def _until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + 100
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)
