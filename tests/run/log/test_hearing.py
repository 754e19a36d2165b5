"""What a supervisor takes from events: a rank that is gone and not noticed leaves the others waiting for ever."""

from __future__ import annotations

import json
import os

import pytest

from nbddp.run.folder.folders import create
from nbddp.run.log import hearing as module
from nbddp.run.log.hearing import Hearing


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch):
    made = Clock()
    monkeypatch.setattr(module, "time", made)
    return made


@pytest.fixture
def hearing(tmp_path, clock):
    assert clock
    return Hearing(create(tmp_path, "x"))


def tell(hearing: Hearing, **event: object) -> None:
    with hearing.folder.events.open("a") as file:
        file.write(json.dumps(event) + "\n")
    hearing.listen()


def rank(hearing: Hearing, number: int, pid: int, **more: object) -> None:
    tell(hearing, event="rank", time=1.0, rank=number, pid=pid, **more)


def test_ranks_are_known_by_their_processes(hearing):
    rank(hearing, 0, os.getpid())
    rank(hearing, 1, 0)
    assert list(hearing.ranks) == [0]
    assert not hearing.a_rank_is_gone({})


def test_after_an_error_the_others_have_some_seconds(hearing, clock):
    rank(hearing, 0, os.getpid())
    tell(hearing, event="error", time=1.0, rank=0)
    assert not hearing.a_rank_is_gone({})
    clock.now += module.AFTER_AN_ERROR + 0.1
    assert hearing.a_rank_is_gone({})


@pytest.mark.parametrize(
    ("statuses", "ended", "patience"),
    [
        ({}, False, module.AFTER_A_SILENT_END),
        ({os.getpid(): 1}, False, module.AFTER_A_DEATH),
        ({os.getpid(): 0}, False, None),
        ({}, True, None),
    ],
)
def test_how_long_a_rank_that_has_gone_is_waited_for(hearing, clock, monkeypatch, statuses, ended, patience):
    rank(hearing, 0, os.getpid())
    if ended:
        tell(hearing, event="end", time=2.0, rank=0)
    monkeypatch.setattr(module, "alive", lambda _process: False)
    assert not hearing.a_rank_is_gone(statuses)
    clock.now += (patience or 1e6) - 0.1
    assert not hearing.a_rank_is_gone(statuses)
    clock.now += 0.2
    assert hearing.a_rank_is_gone(statuses) is (patience is not None)


def test_silence_is_broken_by_ranks_and_logs_and_not_by_the_meter(hearing, clock):
    clock.now += 50
    tell(hearing, event="gpus", time=1.0, gpus={})
    assert hearing.silent_for() == 50
    tell(hearing, event="step", time=1.0, rank=0)
    assert hearing.silent_for() == 0
    clock.now += 50
    hearing.folder.log(0).write_text("a line\n")
    hearing.listen()
    assert hearing.silent_for() == 0


def test_gpus_are_known_once_all_ranks_have_told(hearing):
    rank(hearing, 0, os.getpid(), device="cuda:0", uuid="a", world_size=2)
    assert hearing.gpus == {}
    rank(hearing, 1, os.getpid(), device="cuda:1", uuid="b", world_size=2)
    assert {number: gpu["uuid"] for number, gpu in hearing.gpus.items()} == {0: "a", 1: "b"}


def test_that_it_is_to_stop(hearing):
    assert hearing.grade is None
    tell(hearing, event="stopping", time=1.0, grade="now")
    assert hearing.grade == "now"
