"""Events: what is written, how often, and that nothing is where nobody listens."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from nbddp.script.parts import reporting
from nbddp.script.parts.reporting import epoch_begins, report, report_epoch, report_step


@pytest.fixture
def events(tmp_path, monkeypatch):
    path = tmp_path / "events.jsonl"
    monkeypatch.setenv("NBDDP_EVENTS", str(path))
    monkeypatch.setenv("RANK", "0")
    fresh = {"step": 0, "epoch": 0, "epochs": None, "batch": 0, "due": 0.0, "not_finite": set(), "begun": set()}
    monkeypatch.setattr(reporting, "progress", type(reporting.progress)(**fresh))
    return lambda: read(path)


def read(path: Path) -> list[dict[str, Any]]:
    """Strict JSON, whatever the values were."""

    def refuse(text: str) -> None:
        raise AssertionError(text)

    return [json.loads(line, parse_constant=refuse) for line in path.read_text().splitlines()] if path.exists() else []


@pytest.fixture
def clock(monkeypatch):
    class Clock:
        now = 100.0

        def tick(self, seconds: float) -> None:
            self.now += seconds

    clock = Clock()
    monkeypatch.setattr(reporting.time, "monotonic", lambda: clock.now)
    return clock


def test_an_event_is_a_line(events, monkeypatch):
    before = time.time()
    report("rank", world_size=2, path=Path("x"))
    monkeypatch.setenv("RANK", "1")
    report("end")
    first, second = events()
    assert next(iter(first)) == "event", "where it is looked for"
    assert {"event": "rank", "rank": 0, "world_size": 2, "path": "x"}.items() <= first.items()
    assert before <= first["time"] <= time.time()
    assert (second["event"], second["rank"]) == ("end", 1)


def test_nothing_without_a_listener(monkeypatch):
    monkeypatch.delenv("NBDDP_EVENTS", raising=False)
    monkeypatch.setenv("RANK", "0")
    monkeypatch.setattr(reporting.os, "open", None)

    class Untouchable:
        def __getattr__(self, name: str) -> Any:
            raise AssertionError("looked at")

    report("rank")
    report_step(10, loss=Untouchable())
    report_epoch(loss=Untouchable())
    epoch_begins(0, 2)


def test_a_folder_that_has_gone_does_not_end_the_training(monkeypatch, tmp_path):
    monkeypatch.setenv("NBDDP_EVENTS", str(tmp_path / "gone" / "events.jsonl"))
    monkeypatch.setenv("RANK", "0")
    report("rank")


def test_steps_ten_times_a_second_and_the_ends_of_an_epoch(events, clock):
    epoch_begins(3, 5)
    for _ in range(1000):
        clock.tick(0.005)
        report_step(1000, loss=1.0)
    steps = [event["step"] for event in events() if event["event"] == "step"]
    assert steps[0] == 1
    assert steps[-1] == 1000
    assert 48 <= len(steps) <= 53


def test_epochs_of_a_step_do_not_flood(events, clock):
    for number in range(1000):
        epoch_begins(number, 1000)
        clock.tick(0.0001)
        report_step(1, loss=1.0)
    assert len([event for event in events() if event["event"] == "step"]) < 15


def test_what_a_step_says(events, clock):
    epoch_begins(0, 3)
    report_step(20, loss=torch.tensor(0.25, requires_grad=True))
    clock.tick(1)
    epoch_begins(1, 3)
    report_step(20, loss=torch.tensor([0.5]), accuracy=np.float32(0.75), name="x", both=torch.ones(2), n=3)
    clock.tick(1)
    report_step(loss=1.0)
    epoch, first, _, second, third = events()
    assert (epoch["event"], epoch["epoch"], epoch["epochs"]) == ("epoch", 0, 3)
    assert first["values"] == {"loss": 0.25}
    wanted = {"epoch": 1, "step": 2, "steps": 60, "batch": 1, "batches": 20, "memory": None, "rank": 0}
    assert wanted.items() <= second.items()
    assert second["values"] == {"loss": 0.5, "accuracy": 0.75, "n": 3}
    assert (third["steps"], third["batches"], third["batch"]) == (None, None, 2)


def test_a_value_is_looked_at_only_when_it_is_told(events, clock):
    looked = []

    class Loss:
        shape = ()

        def item(self) -> float:
            looked.append(1)
            return 1.0

    for _ in range(50):
        clock.tick(0.01)
        report_step(loss=Loss())
    assert len(looked) == len(events()) <= 6


def test_what_is_not_finite_is_told_once_and_is_no_number(events, clock):
    epoch_begins(2, None)
    for value in (1.0, float("nan"), float("nan"), float("inf")):
        clock.tick(1)
        report_step(loss=torch.tensor(value), other=2.0)
    report_epoch(loss=float("nan"), best=-float("inf"), epoch_loss=0.5)
    found = events()
    told = [event for event in found if event["event"] == "nan"]
    assert [(event["name"], event["step"], event["epoch"]) for event in told] == [("loss", 2, 2), ("best", 4, 2)]
    assert [event["values"] for event in found if event["event"] == "step"] == [{"loss": 1.0, "other": 2.0}] + [
        {"other": 2.0}
    ] * 3
    assert found[-1]["values"] == {"epoch_loss": 0.5}


def test_an_epoch_ends_with_its_numbers_on_rank_0(events, monkeypatch):
    epoch_begins(4, 5)
    report_epoch(loss=torch.tensor(0.5), correct=12, history=[1], name="x", none=None)
    monkeypatch.setenv("RANK", "1")
    epoch_begins(5, 6)
    report_epoch(loss=1.0)
    assert len(events()) == 2
    metrics = events()[1]
    assert {
        "event": "metrics",
        "rank": 0,
        "epoch": 4,
        "values": {"loss": 0.5, "correct": 12},
    }.items() <= metrics.items()
