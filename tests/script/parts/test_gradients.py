"""Training without the wrapper, and the check that all processes hold the same model."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional

from nbddp.script.parts.ddp import DDP
from nbddp.script.parts.gradients import (
    average_gradients,
    average_gradients_of,
    broadcast_buffers,
    broadcast_model,
    same_on_all_ranks,
)
from tests.script.parts.ranks import on_ranks, run_ranks


class TwoWays(nn.Module):
    """Its second layer has a gradient only for some inputs; part of it is in double precision, part is complex."""

    def __init__(self) -> None:
        super().__init__()
        self.always = nn.Linear(3, 2)
        self.sometimes = nn.Linear(2, 2).double()
        self.never = nn.Linear(2, 2)
        self.phase = nn.Parameter(torch.ones(2, dtype=torch.complex64))
        self.register_buffer("seen", torch.zeros((), dtype=torch.bool))

    def loss(self, x: torch.Tensor, both: bool) -> Any:
        y = self.always(x) * self.phase.abs()
        return (y.double() + self.sometimes(y.double()) if both else y).square().sum()


def train_by_hand(rank: int, world_size: int) -> Any:
    torch.manual_seed(rank + 5)
    model, head = TwoWays(), nn.Linear(2, 1)
    broadcast_model(model, head)
    optimizers = [torch.optim.SGD(model.parameters(), lr=0.01), torch.optim.Adam(head.parameters(), lr=0.01)]
    for step in range(3):
        x = torch.randn(4, 3, generator=torch.Generator().manual_seed(step))
        shares = list(zip(x, [True, False, False, False], strict=True))[rank::world_size]
        for optimizer in optimizers:
            optimizer.zero_grad()
        losses = [model.loss(row, both) + head(torch.ones(2)).sum() for row, both in shares]
        (torch.stack([loss.double() for loss in losses]).mean()).backward()
        average_gradients(*optimizers)
        for optimizer in optimizers:
            optimizer.step()
    assert model.never.weight.grad is None
    same_on_all_ranks(model, head)
    return model.state_dict(), head.state_dict()


def test_it_trains_as_one_process_does():
    """The weights of rank 0 are those of one process, since its seed is."""
    expected = on_ranks(1, train_by_hand, 1)[0]
    for found in on_ranks(2, train_by_hand, 2):
        torch.testing.assert_close(found, expected)


def sparse(rank: int) -> None:
    table = nn.Embedding(4, 2, sparse=rank == 0)
    table(torch.tensor([1])).sum().backward()
    average_gradients(torch.optim.SGD(table.parameters(), lr=0.1))


def test_sparse_gradients_are_refused_on_all_ranks():
    for result in run_ranks(2, sparse):
        assert isinstance(result, RuntimeError)
        assert "sparse" in str(result)


def broadcast(rank: int) -> Any:
    torch.manual_seed(rank)
    model = nn.Sequential(nn.Conv2d(2, 3, 2).to(memory_format=torch.channels_last), nn.BatchNorm2d(3))
    model[1].running_mean += rank
    broadcast_model(model)
    return model.state_dict()


def test_rank_0_gives_its_parameters_and_buffers():
    first, second = on_ranks(2, broadcast)
    torch.testing.assert_close(first, second, rtol=0, atol=0)


def broadcast_between_backwards(rank: int) -> Any:
    torch.manual_seed(rank)
    model = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3)).double()
    output = model(torch.randn(4, 2, dtype=torch.float64))
    output.sum().backward(retain_graph=True)
    broadcast_buffers(model, nn.Linear(1, 1))
    output.square().sum().backward()
    return dict(model.named_buffers())


def test_running_statistics_are_rank_0s_while_a_graph_is_still_followed():
    first, second = on_ranks(2, broadcast_between_backwards)
    torch.testing.assert_close(first, second, rtol=0, atol=0)


class Bypassed(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body, self.head = nn.Linear(4, 4), nn.Linear(4, 1)

    def forward(self, x: torch.Tensor) -> Any:
        return self.head(self.body(x))

    def loss(self, x: torch.Tensor) -> Any:
        return self(x).square().mean()


def step(rank: int, bypass: bool, learning_rate: float) -> None:
    torch.manual_seed(0)
    model = DDP(Bypassed())
    model.body.requires_grad_(not bypass)  # the first layer stays alike
    optimizer = torch.optim.SGD(model.parameters(), lr=learning_rate)
    x = torch.randn(8, 4, generator=torch.Generator().manual_seed(rank))
    loss = model.loss(x) if bypass else functional.mse_loss(model(x), torch.zeros(8, 1))
    loss.backward()
    optimizer.step()
    same_on_all_ranks(nn.Linear(2, 2), model)


@pytest.mark.parametrize("learning_rate", [1e-1, 1e-4])
def test_a_loss_that_went_past_the_wrapper_is_found(learning_rate):
    for result in run_ranks(2, step, True, learning_rate):
        assert isinstance(result, RuntimeError)
        assert "gradients went past DDP" in str(result)


def test_a_loss_that_went_through_it_is_fine():
    on_ranks(2, step, False, 0.1)


def spoil(rank: int, kind: str) -> None:
    weight = torch.ones(1000)
    weight[3] += {
        "nan": float("nan"),
        "inf": float("inf"),
        "nan here": float("nan") if rank else 0.0,
        "rounding": 1e-6 * rank,
    }[kind]
    model = nn.Module()
    model.weight = nn.Parameter(weight)
    model.phase = nn.Parameter(weight * 1j)
    model.short = nn.Parameter(weight.half())
    same_on_all_ranks(model)


@pytest.mark.parametrize("kind", ["nan", "inf", "rounding"])
def test_what_all_have_is_no_difference(kind):
    on_ranks(2, spoil, kind)


def test_nan_on_one_rank_alone_is():
    assert all(isinstance(result, RuntimeError) for result in run_ranks(2, spoil, "nan here"))


def averaged_of_a_loss(rank: int) -> list[float]:
    weight, other = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    inner = weight * (rank + 1)
    loss = (inner + inner * other).sum()
    loss.backward()
    average_gradients_of(loss)
    assert weight.grad is not None
    assert other.grad is not None
    return [*weight.grad.tolist(), *other.grad.tolist()]


def test_gradients_of_tensors_without_a_model():
    assert on_ranks(2, averaged_of_a_loss) == [[3.0, 3.0, 1.5, 1.5]] * 2
