"""Real runs for the tests. However a test goes, nothing of its runs stays behind; and that nothing did is a test."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from nbddp.run.processes.session import members
from nbddp.run.run import Run
from nbddp.run.start.command import RunOptions
from nbddp.run.stop import stop
from nbddp.run.supervision.leader import leader_of

SCRIPTS = Path(__file__).with_name("scripts")


@pytest.fixture
def train(tmp_path, helper):
    """Starts the training script; `start="cold"` without the helper; what it does not know is an argument of it."""
    runs = []

    def start(
        happen="", *, root=tmp_path, start="warm", script="train.py", helper=helper, nproc=2, quiet=60.0, **options
    ):
        words = [word for name, value in options.items() for word in (f"--{name}", str(value))]
        given = RunOptions(nproc=nproc, quiet=quiet, arguments=(*(["--happen", happen] if happen else []), *words))
        text = (SCRIPTS / script).read_text()
        run = Run.start(text, "test", given, root=root, helper=helper if start == "warm" else None)
        runs.append(run)
        return run

    yield start
    for run in runs:
        leader = leader_of(run.folder)
        left = members(leader, run.folder.path) if leader else []
        if left:
            stop(run.folder, "kill")


def until(condition: Callable[[], object], seconds: float = 30.0) -> object:
    """Wait for a condition, and fail where it does not come about."""
    end = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.01)
    return value


@pytest.fixture
def wait_until():
    """`until`, for tests."""
    return until
