"""How full and busy the GPUs are, asked of a stand-in for nvidia-ml-py: there are none here."""

import os
import signal

import pytest

from nbddp.run.state.state import Rank
from nbddp.run.state.words import load

pytestmark = pytest.mark.thorough

STAND_IN = """
from types import SimpleNamespace
class NVMLError(Exception): pass
def nvmlInit(): pass
def nvmlDeviceGetHandleByUUID(uuid):
    return int(uuid.removeprefix("GPU-number-"))
def nvmlDeviceGetMemoryInfo(handle):
    return SimpleNamespace(used=(handle + 1) << 30, total=80 << 30)
def nvmlDeviceGetUtilizationRates(handle):
    if handle:
        raise NVMLError("Not Supported")
    return SimpleNamespace(gpu=87)
"""


@pytest.fixture
def nvml(tmp_path, monkeypatch):
    folder = tmp_path / "packages"
    folder.mkdir()
    monkeypatch.setenv("PYTHONPATH", str(folder))
    return folder / "pynvml.py"


def test_every_rank_has_its_gpu_and_the_meter_goes_with_the_run(train, wait_until, nvml):
    nvml.write_text(STAND_IN)
    run = train("gpus", start="cold", epochs=2_000, pause=0.02)
    wait_until(lambda: len(run.state.ranks) == 2 and run.state.ranks[1].used, 60)
    ranks = run.state.ranks
    assert [ranks[n].used for n in range(2)] == [1 << 30, 2 << 30]
    assert [load(ranks[n]) for n in range(2)] == ["1.0 GiB of 80 GiB, 87 % busy", "2.0 GiB of 80 GiB"]
    assert run.state.unreadable == 0
    run.stop("epoch")
    assert run.wait(30).phase == "stopped"
    assert run.processes() == []
    assert run.state.ended - run.state.updated < 1


def test_a_supervisor_that_is_killed_takes_it_along(train, wait_until, nvml):
    nvml.write_text(STAND_IN)
    run = train("gpus", start="cold", epochs=2_000, pause=0.02)
    wait_until(lambda: len(run.state.ranks) == 2 and run.state.ranks[1].used, 60)
    os.kill(run.state.pid, signal.SIGKILL)
    wait_until(lambda: not run.processes())


@pytest.mark.parametrize("text", ["raise ImportError", STAND_IN.replace("def nvmlInit(): pass", "")])
def test_without_the_package_or_a_driver_nothing_is_said(train, nvml, text):
    nvml.write_text(text)
    state = train("gpus", start="cold", epochs=2, pause=0.1).wait(60)
    assert (state.phase, state.warnings, state.unreadable) == ("done", (), 0)
    assert load(state.ranks[0]) == ""


def test_what_torch_has_allocated_where_nobody_looks_at_the_gpu():
    assert load(Rank(0, memory=3 << 30)) == "3.0 GiB"
    assert load(Rank(0)) == ""
