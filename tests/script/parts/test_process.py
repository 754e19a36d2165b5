"""A process among others: random numbers, output, places."""

from __future__ import annotations

import json
import os
import random
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from nbddp.script.parts import process
from nbddp.script.parts.process import (
    as_torchrun_does,
    literal,
    own_device,
    own_random_numbers,
    quiet_other_ranks,
    report_error,
    seed_everything,
    shared_random_numbers,
)
from tests.script.parts.ranks import on_ranks


def draw(rank: int) -> list[Any]:
    torch.rand(rank)
    seed_everything(3)
    same = (random.random(), float(np.random.rand()), torch.rand(1).item())
    state = torch.get_rng_state()
    own_random_numbers()
    untouched = torch.equal(state, torch.get_rng_state())
    first = torch.rand(1).item()
    own_random_numbers()
    drawn = [same, untouched, first, torch.rand(1).item()]
    random.random()
    shared_random_numbers()
    return [*drawn, (random.random(), float(np.random.rand()), torch.rand(1).item())]


def test_all_begin_alike_and_go_on_by_themselves():
    results = on_ranks(3, draw)
    assert results == on_ranks(3, draw)
    assert len({result[0] for result in results}) == 1
    assert [result[1] for result in results] == [True, False, False]
    assert len({value for result in results for value in result[2:4]}) == 6
    assert len({result[4] for result in results}) == 1
    assert results[0][4] != results[0][0]


def speak(rank: int, errors: str) -> None:
    with Path(errors).open("w") as real:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.dup2(real.fileno(), 2)
    warnings.simplefilter("ignore", ResourceWarning)
    sys.stdout = sys.__stdout__ = open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = sys.__stderr__ = open(2, "w", closefd=False)  # noqa: SIM115
    quiet_other_ranks(rank)
    print(f"printed by {rank}")
    print(f"a bar of {rank}", file=sys.stderr, flush=True)
    os.write(2, f"the system's word on {rank}\n".encode())
    report_error(ValueError("x"))
    print(f"the end of {rank}", file=sys.stderr, flush=True)


def test_the_others_are_silent_until_they_fail(tmp_path):
    for rank in (0, 1):
        on_ranks(1, speak_as, rank, str(tmp_path / f"errors{rank}"))
    assert "a bar of 0" in (tmp_path / "errors0").read_text()
    assert (tmp_path / "errors1").read_text() == "the system's word on 1\nthe end of 1\n"


def speak_as(_: int, rank: int, errors: str) -> None:
    speak(rank, errors)


def test_each_has_a_log_of_its_own(tmp_path):
    for rank in (0, 1):
        on_ranks(1, speak_as, rank, str(tmp_path / "errors"), NBDDP_LOGS=str(tmp_path))
        lines = (tmp_path / f"rank{rank}.log").read_text().splitlines()
        assert lines == [f"printed by {rank}", f"a bar of {rank}", f"the system's word on {rank}", f"the end of {rank}"]
        assert (tmp_path / f"rank{rank}.log").stat().st_mode & 0o77 == 0


@pytest.mark.parametrize(
    ("error", "victim"),
    [
        (ValueError("bad value"), False),
        (RuntimeError("[gloo/pair.cc:553] Connection closed by peer [127.0.0.1]:7074. This is typical"), True),
        (RuntimeError("mat1 and mat2 shapes cannot be multiplied"), False),
        (ConnectionResetError("Connection reset by peer"), False),
        (SystemExit("no"), None),
    ],
)
def test_an_error_is_told_with_who_is_to_blame(error, victim, tmp_path, monkeypatch):
    waited: list[float] = []
    monkeypatch.setattr(process.time, "sleep", waited.append)
    monkeypatch.setenv("NBDDP_EVENTS", str(tmp_path / "events"))
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setattr(sys, "stderr", sys.stderr)
    try:
        raise error
    except BaseException as raised:  # noqa: BLE001
        report_error(raised)
    event = json.loads((tmp_path / "events").read_text())
    assert (event["event"], event["rank"], event["victim"]) == ("error", 1, bool(victim))
    assert (event["type"], event["message"]) == (type(error).__name__, str(error))
    assert event["traceback"][-1]["function"] == "test_an_error_is_told_with_who_is_to_blame"
    assert event["traceback"][-1]["file"] == __file__
    assert event["text"].startswith("Traceback")
    assert bool(waited) is (victim is not False)


SLURM = {
    "SLURM_PROCID": "5",
    "SLURM_LOCALID": "1",
    "SLURM_STEP_NUM_TASKS": "8",
    "SLURM_STEP_TASKS_PER_NODE": "4(x2)",
    "SLURM_STEP_NODELIST": "gpu[007-008,011]",
    "SLURM_JOB_ID": "1234567",
}


@pytest.fixture
def environment(monkeypatch):
    for name in [name for name in os.environ if name.startswith("SLURM_")]:
        monkeypatch.delenv(name)
    for name in ("RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"):
        monkeypatch.setenv(name, "")  # so that it is put back
        monkeypatch.delenv(name)
    return monkeypatch


def places() -> list[str | None]:
    return [os.environ.get(name) for name in ("RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "MASTER_ADDR")]


def test_srun_gives_places(environment):
    for name, value in SLURM.items():
        environment.setenv(name, value)
    as_torchrun_does()
    assert places() == ["5", "1", "8", "4", "gpu007"]
    assert os.environ["MASTER_PORT"] == "34567"


@pytest.mark.parametrize(
    ("nodes", "host"), [("gpu3", "gpu3"), ("a-1,b-2", "a-1"), ("n[1-4,9],m2", "n1"), ("r01n[09]", "r01n09")]
)
def test_the_first_host_is_where_all_meet(environment, nodes, host):
    for name, value in {**SLURM, "SLURM_STEP_NODELIST": nodes}.items():
        environment.setenv(name, value)
    as_torchrun_does()
    assert os.environ["MASTER_ADDR"] == host


def test_a_gpu_for_each_task_is_its_own(environment):
    for name, value in {**SLURM, "SLURM_GPUS_PER_TASK": "1", "MASTER_ADDR": "here", "MASTER_PORT": "1"}.items():
        environment.setenv(name, value)
    as_torchrun_does()
    assert places() == ["5", "1", "8", "1", "here"]
    assert os.environ["MASTER_PORT"] == "1"


@pytest.mark.parametrize("more", [{"SLURM_STEP_NUM_TASKS": "1"}, {"RANK": "0"}])
def test_one_task_or_torchrun_under_slurm_is_no_srun(environment, more):
    for name, value in {**SLURM, **more}.items():
        environment.setenv(name, value)
    as_torchrun_does()
    assert places() == [more.get("RANK"), None, None, None, None]


def test_a_batch_script_is_no_srun(environment):
    environment.setenv("SLURM_PROCID", "0")
    as_torchrun_does()
    assert places() == [None] * 5


@pytest.mark.parametrize(
    ("gpus", "processes", "local_rank", "expected"),
    [
        (0, 2, 1, ("cpu", "gloo")),
        (4, 4, 3, ("cuda:3", "nccl")),
        (1, 2, 1, ("cuda:0", "gloo")),
        (2, 4, 3, ("cuda:1", "gloo")),
        (1, 1, 3, ("cuda:0", "nccl")),  # srun shows each task a GPU of its own
    ],
)
def test_nccl_where_each_has_a_gpu(monkeypatch, gpus, processes, local_rank, expected):
    used: list[int] = []
    monkeypatch.setenv("LOCAL_WORLD_SIZE", str(processes))
    monkeypatch.setattr(torch.cuda, "device_count", lambda: gpus)
    monkeypatch.setattr(torch.cuda, "set_device", used.append)
    monkeypatch.setattr(process.dist, "is_nccl_available", lambda: True)
    device, backend = own_device(local_rank)
    assert (str(device), backend) == expected
    assert used == ([device.index] if gpus else [])


@pytest.mark.parametrize(
    ("text", "value"), [("3", 3), ("[1, 2]", [1, 2]), ("None", None), ("adam", "adam"), ("1e-3", 0.001), ("a b", "a b")]
)
def test_a_value_from_the_command_line(text, value):
    assert literal(text) == value
