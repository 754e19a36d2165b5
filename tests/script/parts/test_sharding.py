"""Models of which each process keeps a part: they train as whole ones do, and their states are those of whole ones."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

from nbddp.script.parts import sharding
from nbddp.script.parts.gradients import average_gradients
from nbddp.script.parts.sharding import blocks_of, equally_often, full_state_dict, load_full_state_dict, shard
from tests.script.parts.ranks import on_ranks


class Net(nn.Module):
    """Rows that do not divide by two, a list of blocks, and one tensor that two layers share."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Linear(3, 5)
        self.layers = nn.ModuleList([nn.Sequential(nn.Linear(5, 7), nn.Tanh(), nn.Linear(7, 5)) for _ in range(2)])
        self.head = nn.Linear(3, 5, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.embed(x)
        for layer in self.layers:
            x = x + layer(x)
        return x @ self.head.weight


def built(seed: int, *, sharded: bool) -> tuple[nn.Module, torch.optim.Optimizer]:
    torch.manual_seed(seed)
    model = Net()
    if sharded:
        shard(model)
    return model, torch.optim.Adam(model.parameters(), lr=0.05)


def steps(rank: int, model: nn.Module, optimizer: torch.optim.Optimizer, seed: int, *, sharded: bool) -> None:
    for step in range(3):
        x = torch.randn(4, 3, generator=torch.Generator().manual_seed(seed + step))[rank::2]
        optimizer.zero_grad()
        model(x).square().mean().backward()
        if not sharded:
            average_gradients(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.1)
        optimizer.step()


def there_and_back(rank: int) -> Any:
    """Whole, then sharded from its state, then whole again; beside one that is whole all the time."""
    whole, with_whole = built(0, sharded=False)
    for part in range(3):
        steps(rank, whole, with_whole, part, sharded=False)
    first, with_first = built(0, sharded=False)
    steps(rank, first, with_first, 0, sharded=False)
    second, with_second = built(rank + 1, sharded=True)
    load_full_state_dict(second, first.state_dict() if rank == 0 else {})
    load_full_state_dict(with_second, with_first.state_dict() if rank == 0 else {})
    steps(rank, second, with_second, 1, sharded=True)
    states = full_state_dict(second, everywhere=True), full_state_dict(with_second, everywhere=True)
    third, with_third = built(5, sharded=False)
    third.load_state_dict(states[0])
    with_third.load_state_dict(states[1])
    steps(rank, third, with_third, 2, sharded=False)
    return whole.state_dict(), third.state_dict(), with_whole.state_dict(), with_third.state_dict()


def test_states_go_from_whole_models_to_sharded_ones_and_back():
    for whole, third, with_whole, with_third in on_ranks(2, there_and_back):
        torch.testing.assert_close(third, whole, rtol=0, atol=1e-5)
        torch.testing.assert_close(with_third["state"], with_whole["state"], rtol=0, atol=1e-5)


def asked_for(rank: int) -> Any:
    model, optimizer = built(rank, sharded=True)
    steps(rank, model, optimizer, 0, sharded=True)
    kept = sum(p.to_local().numel() for p in model.parameters())  # type: ignore[attr-defined]
    return full_state_dict(model), full_state_dict(optimizer), kept


def test_rank_0_has_the_whole_state_and_the_others_none():
    (model, optimizer, kept), (no_model, no_optimizer, kept_too) = on_ranks(2, asked_for)
    assert (no_model, no_optimizer) == ({}, {})
    assert model.keys() == Net().state_dict().keys()
    assert all(type(v) is torch.Tensor for state in optimizer["state"].values() for v in state.values())
    assert optimizer["state"][0]["exp_avg"].shape == model["embed.weight"].shape
    assert kept + kept_too == sum(p.numel() for p in Net().parameters())


def test_blocks_are_what_lists_hold():
    model = Net()
    assert blocks_of(model) == list(model.layers)
    assert blocks_of(nn.Sequential(model.layers[0], nn.ReLU())) == [model.layers[0]]
    assert blocks_of(nn.Sequential(nn.Sequential(model.embed, nn.ReLU()), model.head)) == [], "they share a tensor"


@pytest.mark.parametrize("world_size", [1, 2, 3, 5])
def test_all_evaluate_equally_many_batches(monkeypatch, world_size):
    monkeypatch.setattr(sharding.dist, "get_world_size", lambda: world_size)
    for samples in range(world_size, 40):
        for wanted in (1, 2, 3, 7, 64):
            size = equally_often(wanted, samples)
            assert size >= wanted
            assert len({-(-len(range(rank, samples, world_size)) // size) for rank in range(world_size)}) == 1


def test_too_few_samples_are_said(monkeypatch):
    monkeypatch.setattr(sharding.dist, "get_world_size", lambda: 3)
    with pytest.raises(ValueError, match="2 samples are too few"):
        equally_often(4, 2)
