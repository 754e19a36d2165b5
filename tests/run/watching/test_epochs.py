"""Training that can be stopped, saved and gone on with; on any number of processes it comes to the same."""

from __future__ import annotations

import contextlib
import dataclasses
import io
import itertools
import json
import random
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torch.distributed as dist
from torch import nn
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset
from tqdm import tqdm

from nbddp.run.watching.plain_values import plain
from nbddp.run.watching.settings import Settings
from nbddp.run.watching.watcher import Watcher
from nbddp.script.parts.ddp import DDP
from nbddp.script.parts.process import own_random_numbers, seed_everything
from tests.script.parts.ranks import on_ranks, run_ranks


def watcher_of(rank: int, **options: Any) -> Watcher:
    watcher = Watcher(dataclasses.replace(Settings.of(), **options))
    watcher.reports.rank = rank
    return watcher


def resumable(
    watcher: Watcher, epochs: Iterable[Any], values: Callable[[], dict[str, Any]] = dict, **state: Any
) -> Iterator[Any]:
    """As the tree of a script has it: the end of an epoch stands in the loop."""
    for epoch in watcher.over(epochs, state):
        yield epoch
        watcher.epoch_ends({}, values())


def train(rank: int, count: int, folder: str, noise: bool, options: dict[str, Any]) -> Any:
    """A few epochs, with a scheduler, gradient scaling, and random numbers of all kinds."""
    watcher = watcher_of(rank, **options)
    seed_everything(0)
    data = TensorDataset(torch.randn(24, 4), torch.randn(24, 1))
    sampler = DistributedSampler(data)
    loader = DataLoader(data, batch_size=6 // dist.get_world_size(), sampler=sampler)
    model = DDP(nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 1)))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    scheduler = torch.optim.lr_scheduler.MultiStepLR(optimizer, [2, 3])
    scaler = torch.amp.GradScaler("cpu")
    state = {"model": model, "optimizer": optimizer, "scheduler": scheduler, "scaler": scaler}
    seen = []
    own_random_numbers()
    best, curve, other = 1e9, [], object()
    best, curve, other = watcher.carry({"best": best, "curve": curve, "other": other}, {})
    kept = curve
    values = lambda: {"best": best, "curve": curve, "other": other}  # noqa: E731
    for epoch in resumable(watcher, range(count), values, **state):
        sampler.set_epoch(epoch)
        seen.append(epoch)
        for x, y in loader:
            draw = torch.randn(x.shape) * random.random() * np.random.rand() if noise else 0.0
            loss = (model(x + draw) - y).square().mean()
            optimizer.zero_grad()
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
            if watcher.step():
                watcher.report_step(len(loader), {"loss": loss})
        size = next(model.parameters()).norm().item()  # the same on all ranks
        best = min(best, size)
        curve.append({"size": np.full(2, size), "epoch": (epoch,)})
        scheduler.step()
        if folder and rank == 0 and (Path(folder) / f"stop{epoch}").exists():
            (Path(folder) / "stop").touch()
    return {
        "seen": seen,
        "model": model.state_dict(),
        "moments": [value["exp_avg"] for value in optimizer.state_dict()["state"].values()],
        "rate": optimizer.param_groups[0]["lr"],
        "carried": (best, [(point["size"].tolist(), point["epoch"]) for point in kept]),
        "draw": (torch.rand(2), random.random(), np.random.rand()),
    }


def same(found: Any, expected: Any, **tolerance: float) -> None:
    torch.testing.assert_close(found["model"], expected["model"], **tolerance)
    torch.testing.assert_close(found["moments"], expected["moments"], **tolerance)
    assert found["rate"] == expected["rate"]
    torch.testing.assert_close(found["carried"], expected["carried"], **tolerance)


@pytest.mark.parametrize("world_size", [1, 2])
def test_a_resumed_training_is_the_uninterrupted_one(tmp_path, world_size):
    path = str(tmp_path / "check.pt")
    whole = on_ranks(world_size, train, 4, "", True, {})
    on_ranks(world_size, train, 2, "", True, {"checkpoint": path})
    rest = on_ranks(world_size, train, 4, "", True, {"resume": path})
    for expected, found in zip(whole, rest, strict=True):
        assert found["seen"] == [2, 3]
        same(found, expected, rtol=0, atol=0)
        torch.testing.assert_close(found["draw"], expected["draw"], rtol=0, atol=0)


def test_on_another_number_of_processes_too(tmp_path):
    path = str(tmp_path / "check.pt")
    expected = on_ranks(1, train, 4, "", False, {})[0]
    on_ranks(2, train, 1, "", False, {"checkpoint": path})
    on_ranks(3, train, 3, "", False, {"resume": path, "checkpoint": path})
    for found in on_ranks(1, train, 4, "", False, {"resume": path}):
        assert found["seen"] == [3]
        same(found, expected)


def test_checkpoints_every_so_often(tmp_path):
    events, path = tmp_path / "events.jsonl", str(tmp_path / "check.pt")
    on_ranks(2, train, 5, "", False, {"checkpoint": path, "checkpoint_every": "2e"}, NBDDP_EVENTS=str(events))
    told = [json.loads(line) for line in events.read_text().splitlines()]
    assert [(event["epoch"], event["path"]) for event in told if event["event"] == "checkpoint"] == [
        (1, path),
        (3, path),
    ]
    assert [(e["epoch"], e["epochs"], e["rank"]) for e in told if e["event"] == "epoch"] == [
        (k, 5, 0) for k in range(5)
    ]
    assert {event["rank"] for event in told if event["event"] == "step"} == {0, 1}
    saved = torch.load(path, weights_only=True)
    assert (saved["format"], saved["epochs_done"], len(saved["random"])) == (1, 4, 2)
    assert list(saved["states"]["model"]) == ["0.weight", "0.bias", "1.weight", "1.bias"]
    assert [file.name for file in tmp_path.iterdir() if "check" in file.name] == ["check.pt"]


def test_a_stop_comes_after_the_epoch_with_a_checkpoint(tmp_path):
    (tmp_path / "stop1").touch()
    options = {"checkpoint": str(tmp_path / "check.pt"), "checkpoint_every": "9e"}
    for found in on_ranks(2, train, 6, str(tmp_path), False, options, NBDDP_STOP=str(tmp_path / "stop")):
        assert found["seen"] == [0, 1]
    assert torch.load(tmp_path / "check.pt", weights_only=True)["epochs_done"] == 2


def test_the_live_state_is_where_it_starts(tmp_path):
    model = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 1))
    nn.init.constant_(model[0].weight, 3.0)
    torch.save({"format": 1, "states": {"model": model.state_dict()}, "values": {}}, tmp_path / "start.pt")
    for found in on_ranks(2, train, 0, "", False, {}, NBDDP_START=str(tmp_path / "start.pt")):
        torch.testing.assert_close(found["model"], dict(model.state_dict()))


def begin_twice(rank: int) -> list[float]:
    """A model goes through two loops, one more through the second: each begins as the notebook has it, once."""
    watcher = watcher_of(rank)
    found = []
    first, second = nn.Linear(1, 1), nn.Linear(1, 1)
    for state in ({"first": first}, {"first": first, "second": second}):
        for _ in resumable(watcher, range(1), **state):
            found += [model.bias.item() for model in state.values()]
            nn.init.constant_(first.bias, 7.0)
    return found


def test_each_model_starts_once_from_its_live_state(tmp_path):
    states = {
        name: {"weight": torch.ones(1, 1), "bias": torch.full((1,), number)}
        for name, number in (("first", 2.0), ("second", 3.0))
    }
    torch.save({"format": 1, "states": states}, tmp_path / "start.pt")
    assert on_ranks(1, begin_twice, NBDDP_START=str(tmp_path / "start.pt")) == [[2.0, 7.0, 3.0]]


def test_a_checkpoint_without_a_needed_state_is_refused(tmp_path):
    torch.save({"format": 1, "states": {"model": {}, "optimizer": {}}, "epochs_done": 1}, tmp_path / "check.pt")
    (result,) = run_ranks(1, train, 1, "", False, {"resume": str(tmp_path / "check.pt")})
    assert isinstance(result, SystemExit)
    assert str(result) == f"{tmp_path}/check.pt has nothing for scaler, scheduler"


def begin_wrapped(rank: int) -> float:
    """A function that gets torch's own DDP for the model: the state is that of the model in it."""
    watcher, model = watcher_of(rank), torch.nn.parallel.DistributedDataParallel(nn.Linear(1, 1))
    for _ in resumable(watcher, range(1), net=model):
        return model.module.bias.item()
    raise AssertionError("no epoch")


def test_a_wrapped_model_starts_from_the_state_of_the_model(tmp_path):
    torch.save({"format": 1, "states": {"net": nn.Linear(1, 1).state_dict() | {"bias": torch.full((1,), 2.0)}}},
               tmp_path / "start.pt")  # fmt: skip
    assert on_ranks(2, begin_wrapped, NBDDP_START=str(tmp_path / "start.pt")) == [2.0, 2.0]


def two_loops(rank: int, options: dict[str, Any], stop_after: int = 9) -> Any:
    """A first phase and a second, on one model: what is done of the first is not done again for the second."""
    watcher = watcher_of(rank, **options)
    torch.manual_seed(0)
    model = nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    seen = []
    for phase in (1, 2):
        for epoch in resumable(watcher, range(3), model=model, optimizer=optimizer):
            seen.append((phase, epoch))
            optimizer.zero_grad()
            model(torch.ones(1)).backward()
            optimizer.step()
            if len(seen) == stop_after:
                return seen, None
    return seen, model.state_dict()


@pytest.mark.parametrize("stop_after", [2, 3, 4, 5, 6])
def test_one_of_two_loops_is_resumed(tmp_path, stop_after):
    """Interrupted in an epoch, it goes on with that epoch: the checkpoint is of the end of the one before."""
    path = str(tmp_path / "check.pt")
    seen, weights = on_ranks(1, two_loops, {})[0]
    on_ranks(1, two_loops, {"checkpoint": path}, stop_after)
    again, found = on_ranks(1, two_loops, {"resume": path})[0]
    assert again == seen[stop_after - 1 :]
    torch.testing.assert_close(found, weights, rtol=0, atol=0)


def told(rank: int, options: dict[str, Any]) -> str:
    with contextlib.redirect_stdout(io.StringIO()) as text:
        two_loops(rank, options)
    return text.getvalue()


def test_why_a_loop_is_skipped_is_told(tmp_path):
    path = str(tmp_path / "state.pt")
    torch.save({"format": 1, "loop": 2, "states": {"model": nn.Linear(1, 1).state_dict()}}, path)
    (text,) = on_ranks(1, told, {}, NBDDP_START=path)
    assert text == "training 1 is already done in the notebook and is skipped; its numbers are not reported again\n"


class Stopping:
    """As one of another module: it decides by what it remembers, and holds what no file can."""

    def __init__(self, model: nn.Module, patience: int) -> None:
        self.model, self.weights, self.patience = model, list(model.parameters()), patience
        self.best, self.counter, self.seen = float("inf"), 0, {"losses": [0.0]}

    def __call__(self, loss: float) -> bool:
        self.counter = 0 if loss < self.best else self.counter + 1
        self.best = min(loss, self.best)
        self.seen["losses"].append(loss)
        return self.counter == self.patience


def stopped(rank: int, losses: list[float], patience: int, options: dict[str, Any]) -> Any:
    watcher = watcher_of(rank, **options)
    model = nn.Linear(1, 1)
    stopping = Stopping(model, patience)
    averaged = torch.optim.swa_utils.AveragedModel(model)
    watcher.carry({}, {"stopping": stopping, "averaged": averaged, "nothing": None})
    for epoch in resumable(watcher, range(len(losses)), model=model):
        nn.init.constant_(model.weight, losses[epoch])
        averaged.update_parameters(model)
        if stopping(losses[epoch]):
            break
    assert stopping.weights[0] is model.weight
    return epoch, stopping.best, stopping.counter, stopping.seen, averaged.module.weight.item()


def test_what_other_modules_remember_is_carried_on(tmp_path):
    losses, path = [2.0, 1.0, 3.0, 4.0, 5.0, 6.0], str(tmp_path / "check.pt")
    whole = on_ranks(1, stopped, losses, 3, {})[0]
    assert whole[:3] == (4, 1.0, 3)
    assert on_ranks(1, stopped, losses[:3], 3, {"checkpoint": path})[0][:3] == (2, 1.0, 1)
    assert on_ranks(2, stopped, losses, 3, {"resume": path}) == [whole, whole]
    assert on_ranks(1, stopped, losses, 2, {"resume": path})[0][0] == 3  # the patience is that of the cells


def loops(rank: int) -> None:
    watcher = watcher_of(rank)
    assert list(resumable(watcher, ["a", "b"])) == ["a", "b"]
    assert list(resumable(watcher, enumerate("ab"))) == [(0, "a"), (1, "b")]
    assert list(resumable(watcher, tqdm(range(3)))) == [0, 1, 2]
    assert list(itertools.islice(resumable(watcher, itertools.count(4)), 3)) == [4, 5, 6]
    assert list(resumable(watcher, tqdm(itertools.islice(itertools.count(), 2)))) == [0, 1]


def test_anything_can_be_gone_through():
    on_ranks(1, loops)


def apart(rank: int, first_step: bool) -> list[str]:
    """The model's own forward is gone past, at once or after the first step."""
    watcher = watcher_of(rank)
    torch.manual_seed(0)
    model = DDP(nn.Linear(4, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    done = []
    try:
        for epoch in resumable(watcher, range(2), net=model, optimizer=optimizer):
            for step in range(2):
                x = torch.full((2, 4), rank + 1.0)
                forward = model.module if first_step or step else model
                optimizer.zero_grad()
                forward(x).sum().backward()
                optimizer.step()
                done.append(f"{epoch}.{step}")
    except RuntimeError as error:
        done.append(str(error)[:5])
    return done


@pytest.mark.parametrize(("first_step", "expected"), [(True, ["'net'"]), (False, ["0.0", "0.1", "'net'"])])
def test_a_model_that_comes_apart_stops_the_training(first_step, expected):
    assert on_ranks(2, apart, first_step) == [expected, expected]


def by_while(rank: int, folder: str) -> Any:
    watcher = watcher_of(rank, checkpoint=f"{folder}/check.pt")
    number = watcher.epochs_before({"model": nn.Linear(2, 1)})
    while True:
        watcher.epoch_begins(number)
        if number == 2 and rank == 0:
            Path(folder, "stop").touch()
        number += 1
        if watcher.epoch_ends({}, {}):
            return number


def test_a_loop_that_counts_itself(tmp_path):
    assert on_ranks(1, by_while, str(tmp_path), NBDDP_STOP=str(tmp_path / "stop")) == [3]
    assert torch.load(tmp_path / "check.pt", weights_only=True)["epochs_done"] == 3


def left(rank: int, options: dict[str, Any], epochs: int) -> list[int]:
    """It leaves its loop in the second epoch, as one that stops early does."""
    watcher, seen, model = watcher_of(rank, **options), [], nn.Linear(1, 1)
    for epoch in watcher.over(range(epochs), {"model": model}):
        seen.append(epoch)
        nn.init.constant_(model.weight, epoch)
        if epoch == 1:
            watcher.epoch_ends({"loss": 0.5}, {}, left=True)
            break
        watcher.epoch_ends({"loss": 1.0}, {})
    return [*seen, int(model.weight.item())]


def test_an_epoch_that_is_left_early_is_told_and_saved_and_is_the_last(tmp_path):
    events, path = tmp_path / "events.jsonl", str(tmp_path / "check.pt")
    options = {"checkpoint": path, "checkpoint_every": "9e"}
    assert on_ranks(2, left, options, 5, NBDDP_EVENTS=str(events)) == [[0, 1, 1]] * 2
    told = [json.loads(line) for line in events.read_text().splitlines()]
    assert [event["values"] for event in told if event["event"] == "metrics"] == [{"loss": 1.0}, {"loss": 0.5}]
    assert [event["epoch"] for event in told if event["event"] == "checkpoint"] == [1]
    assert on_ranks(1, left, {"resume": path}, 5) == [[1]], "nothing is left to do, and the weights are there"


def behind_another(rank: int, options: dict[str, Any]) -> list[Any]:
    """What a first training has left by name, where a second begins that is run from a notebook."""
    watcher, model, kept = watcher_of(rank, **options), nn.Linear(1, 1), None
    for _ in resumable(watcher, range(1), model=model):
        kept = "of the first"
    if watcher.has_left("kept"):
        kept = watcher.left("kept", kept)
    return [kept, [epoch for epoch in resumable(watcher, range(3), model=model)]]  # noqa: C416 -- it is no list


@pytest.mark.parametrize("every", ["1e", "2e"])
def test_names_that_an_earlier_cell_has_left_are_in_the_checkpoint(tmp_path, every):
    start, path = str(tmp_path / "start.pt"), str(tmp_path / "check.pt")
    names = {"kept": {"value": plain([1.5, "best"]), "on_gpu": False}}
    torch.save({"loop": 2, "states": {"model": nn.Linear(1, 1).state_dict()}, "names": names}, start)
    begun = {"start": start, "checkpoint": path, "checkpoint_every": every}
    assert on_ranks(2, behind_another, begun) == [[[1.5, "best"], [0, 1, 2]]] * 2
    done = 3 if every == "1e" else 2
    rest = on_ranks(1, behind_another, {"resume": path, "checkpoint": path, "checkpoint_every": "1e"})
    assert rest == [[[1.5, "best"], [*range(done, 3)]]]
    assert on_ranks(1, behind_another, {"resume": path}) == [[[1.5, "best"], []]], "and in the next one"
