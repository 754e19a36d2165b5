"""Events: what is written, and how often."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from nbddp.run.watching import progress as module
from nbddp.run.watching.progress import Progress
from nbddp.run.watching.reports import Reports


@pytest.fixture
def progress(tmp_path, clock):
    return Progress(Reports(str(tmp_path / "events.jsonl")))


@pytest.fixture
def events(tmp_path):
    return lambda: read(tmp_path / "events.jsonl")


def step(progress: Progress, batches: int | None = None, **values: Any) -> None:
    """As it stands in the tree of a script."""
    if progress.step():
        progress.report_step(batches, values, tuple(values.values()))


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
    monkeypatch.setattr(module, "monotonic", lambda: clock.now)
    return clock


def test_the_last_value_is_told_however_short_the_run(progress, events):
    progress.epoch_begins(0, 1)
    for value in (3.0, 2.0, 1.0):
        step(progress, 3, loss=value)
    progress.ends()
    told = [event for event in events() if event["event"] == "step"]
    assert (told[-1]["step"], told[-1]["values"]) == (3, {"loss": 1.0})


def test_an_event_is_a_line(progress, events):
    before = time.time()
    progress.reports.report("rank", world_size=2, path=Path("x"))
    progress.reports.rank = 1
    progress.reports.report("end")
    first, second = events()
    assert next(iter(first)) == "event", "where it is looked for"
    assert {"event": "rank", "rank": 0, "world_size": 2, "path": "x"}.items() <= first.items()
    assert before <= first["time"] <= time.time()
    assert (second["event"], second["rank"]) == ("end", 1)


def test_a_folder_that_has_gone_does_not_end_the_training(tmp_path):
    Reports(str(tmp_path / "gone" / "events.jsonl")).report("rank")


def test_steps_ten_times_a_second_and_the_ends_of_an_epoch(progress, events, clock):
    progress.epoch_begins(3, 5)
    for _ in range(1000):
        clock.tick(0.005)
        step(progress, 1000, loss=1.0)
    steps = [event["step"] for event in events() if event["event"] == "step"]
    assert steps[0] == 1
    assert steps[-1] == 1000
    assert 48 <= len(steps) <= 53


def told_in_a_minute(progress, events, clock) -> int:
    """Of one endless epoch."""
    before = len(events())
    for _ in range(1200):
        clock.tick(0.05)
        step(progress)
    return len(events()) - before


@pytest.mark.parametrize(("rank", "ranks", "least", "most"), [(0, 1000, 590, 600), (1, 8, 590, 600), (999, 1000, 6, 7)])
def test_ranks_but_the_first_tell_the_less_the_more_there_are(progress, events, clock, rank, ranks, least, most):
    progress.reports.rank, progress.reports.world_size = rank, ranks
    assert least <= told_in_a_minute(progress, events, clock) <= most


@pytest.mark.parametrize(
    ("rank", "hours", "least", "most"), [(0, 1, 150, 180), (0, 24, 55, 60), (1, 24, 6, 7), (1, 999, 0, 1)]
)
def test_a_training_of_days_is_told_more_rarely(progress, events, clock, rank, hours, least, most):
    progress.reports.rank, progress.reports.world_size = rank, 8
    step(progress)
    clock.tick(hours * 3600)
    step(progress)
    assert least <= told_in_a_minute(progress, events, clock) <= most


def test_epochs_of_a_step_do_not_flood(progress, events, clock):
    for number in range(1000):
        progress.epoch_begins(number, 1000)
        clock.tick(0.0001)
        step(progress, 1, loss=1.0)
    assert len([event for event in events() if event["event"] == "step"]) < 15


def test_what_a_step_says(progress, events, clock):
    progress.epoch_begins(0, 3)
    step(progress, 20, loss=torch.tensor(0.25, requires_grad=True))
    clock.tick(1)
    progress.epoch_begins(1, 3)
    step(progress, 20, loss=torch.tensor([0.5]), accuracy=np.float32(0.75), name="x", both=torch.ones(2), n=3)
    clock.tick(1)
    step(progress, loss=1.0)
    epoch, first, _, second, third = events()
    assert (epoch["event"], epoch["epoch"], epoch["epochs"]) == ("epoch", 0, 3)
    assert first["values"] == {"loss": 0.25}
    wanted = {"epoch": 1, "step": 2, "steps": 60, "batch": 1, "batches": 20, "memory": None, "rank": 0, "samples": 1}
    assert wanted.items() <= second.items()
    assert second["values"] == {"loss": 0.5, "accuracy": 0.75, "n": 3}
    assert (third["steps"], third["batches"], third["batch"]) == (None, None, 2)


def test_a_value_is_looked_at_only_when_it_is_told(progress, events, clock):
    looked = []

    class Loss:
        shape = ()

        def item(self) -> float:
            looked.append(1)
            return 1.0

    for _ in range(50):
        clock.tick(0.01)
        step(progress, loss=Loss())
    assert len(looked) == len(events()) <= 6


def test_what_is_not_finite_is_told_once_and_is_no_number(progress, events, clock):
    progress.epoch_begins(2, None)
    for value in (1.0, float("nan"), float("nan"), float("inf")):
        clock.tick(1)
        step(progress, loss=torch.tensor(value), other=2.0)
    progress.metrics({"loss": float("nan"), "best": -float("inf"), "epoch_loss": 0.5})
    found = events()
    told = [event for event in found if event["event"] == "nan"]
    assert [(event["name"], event["step"], event["epoch"]) for event in told] == [("loss", 2, 2), ("best", 4, 2)]
    assert [event["values"] for event in found if event["event"] == "step"] == [{"loss": 1.0, "other": 2.0}] + [
        {"other": 2.0}
    ] * 3
    assert found[-1]["values"] == {"epoch_loss": 0.5}


def test_an_epoch_ends_with_its_numbers_on_rank_0(progress, events):
    progress.epoch_begins(4, 5)
    progress.metrics({"loss": torch.tensor(0.5), "correct": 12, "history": [1], "name": "x", "none": None})
    progress.reports.rank = 1
    progress.epoch_begins(5, 6)
    progress.metrics({"loss": 1.0})
    assert len(events()) == 2
    metrics = events()[1]
    assert {
        "event": "metrics",
        "rank": 0,
        "epoch": 4,
        "values": {"loss": 0.5, "correct": 12},
    }.items() <= metrics.items()


def test_the_last_step_is_told_at_the_end_however_soon_it_came(progress, events, clock):
    progress.epoch_begins(0, 1)
    for _ in range(6):
        step(progress, 6, loss=1.0)
    assert [e["step"] for e in events() if e["event"] == "step"] == [1]
    progress.ends()
    progress.ends()
    assert [(e["step"], e["batch"]) for e in events() if e["event"] == "step"] == [(1, 1), (6, 6)]
