"""A model that is computed by parts gives, and gets the gradients of, what one process has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

from nbddp.script.parts.ddp import sync_batchnorm__joined
from nbddp.script.parts.joining import by_parts
from tests.script.parts.ranks import on_ranks

TOTALS = (13, 2, 1)


class Net(nn.Module):
    """Samples, states behind their layers, and a mean."""

    def __init__(self) -> None:
        super().__init__()
        self.rnn, self.out = nn.GRU(3, 4, 2, batch_first=True), nn.Linear(4, 5)

    def forward(self, x: Any, h: Any, y: Any = None) -> Any:
        out, h = self.rnn(F.dropout(x, 0.3), h)
        scores = self.out(out[:, -1])
        return {"scores": scores, "states": (h,), "mean": F.mse_loss(scores, y), "seen": scores > 0, "none": None}


def gradients(rank: int, split: bool = True) -> list[Any]:
    """Of what meets over the whole batch, twice through the model; the mean over the ranks, as DDP takes it."""
    torch.manual_seed(3)
    torch.set_default_dtype(torch.float64)
    net, found = Net(), []
    model = by_parts(net) if split else net
    for total in TOTALS:
        x, y = torch.randn(total, 6, 3, requires_grad=True), torch.randn(total, 5)
        first = model(x, torch.zeros(2, total, 4), y=y)
        again = model(x + first["scores"].mean(), first["states"][0], y=y)
        (slope,) = torch.autograd.grad(again["scores"].pow(2).sum(), x, create_graph=True)
        scores = again["scores"]
        loss = (scores @ scores.T).logsumexp(1).mean() + again["mean"] + slope.norm() + first["seen"].sum()
        net.zero_grad()
        loss.backward()
        for parameter in net.parameters():
            if split:
                dist.all_reduce(parameter.grad)
            found.append(parameter.grad / (dist.get_world_size() if split else 1))
        found += [loss.detach(), again["states"][0].detach(), x.grad]
    torch.set_default_dtype(torch.float32)
    return [*found, torch.rand(3)]


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_values_and_gradients_are_those_of_one_process(ranks):
    expected = gradients(0, split=False)
    for found in on_ranks(ranks, gradients):
        assert all(torch.allclose(a, b, atol=1e-9) for a, b in zip(found, expected, strict=True))


def arrays(rank: int) -> Any:
    """A model that makes tensors of arrays, and gives one back."""
    table = np.arange(21.0).reshape(7, 3)
    return by_parts(lambda x, factor: (torch.as_tensor(x) * torch.as_tensor(factor), x + 1))(table, np.float32(2.0))


@dataclass
class Output:
    scores: torch.Tensor
    layers: tuple[torch.Tensor, ...] = ()


def outputs(rank: int) -> Any:
    x = torch.arange(21.0).reshape(7, 3)
    return by_parts(lambda x: Output(x + 1, layers=(x, 2 * x)))(x)


def test_what_a_data_class_holds_is_put_together():
    x = torch.arange(21.0).reshape(7, 3)
    for found in on_ranks(2, outputs):
        assert torch.equal(found.scores, x + 1)
        assert torch.equal(found.layers[1], 2 * x)


def test_arrays_are_split_too():
    table = np.arange(21.0).reshape(7, 3)
    for scaled, more in on_ranks(2, arrays):
        assert torch.equal(scaled, torch.as_tensor(table * 2))
        assert np.array_equal(more, table + 1)


def wrong(rank: int, what: str) -> str:
    x = torch.randn(6, 4)
    made = {
        "sum": lambda x: x.sum(0),
        "uneven": lambda x: x[:, : len(x)],
        "object": lambda _: object(),
        "states": lambda x: (x, torch.zeros(len(x), len(x), 2)),
    }[what]
    with pytest.raises((RuntimeError, TypeError), match="--exact") as caught:
        by_parts(made)(x[: 5 if what == "uneven" else 6])
    return str(caught.value)


@pytest.mark.parametrize("what", ["sum", "uneven", "object", "states"])
def test_what_is_not_one_entry_for_each_sample_stops_the_run(what):
    assert len(on_ranks(2, wrong, what)) == 2


def untaped(rank: int) -> int:
    with torch.no_grad():
        return len(by_parts(nn.Identity())(torch.zeros(4 + rank, 2)))


def test_without_gradients_it_is_the_model():
    """An evaluation, which may be another on each rank."""
    assert on_ranks(2, untaped) == [4, 5]


def listed(rank: int) -> list[torch.Tensor]:
    """Each sample has targets of its own, as many as it likes; what has the length of a batch itself is cut as such."""
    x, targets = torch.arange(10.0).reshape(5, 2), [torch.full((n, 2), float(n)) for n in range(1, 6)]

    def model(x: Any, targets: Any, pair: Any, words: Any) -> Any:
        assert len(targets) == len(x) == len(words["w"]) == len(pair[0])
        return torch.stack([(one - target).sum() for one, target in zip(x, targets, strict=True)]) + pair[1][:, 0]

    return [by_parts(model)(x, targets, (x, 2 * x), {"w": list("abcde")})]


def test_a_list_for_the_samples_is_cut_too():
    (whole,) = on_ranks(1, listed)
    for found in on_ranks(2, listed):
        assert torch.equal(found[0], whole[0])


def numbers(rank: int) -> str:
    with pytest.raises(RuntimeError, match="5 numbers") as caught:
        by_parts(lambda x, labels: x + len(labels))(torch.zeros(5, 2), [1, 2, 3, 4, 5])
    return str(caught.value)


def test_numbers_that_may_be_of_the_samples_stop_the_run():
    assert len(on_ranks(2, numbers)) == 2


def nested(rank: int) -> torch.Tensor:
    """A layer that splits, inside of another that does."""
    torch.manual_seed(3)
    layer = nn.Linear(2, 2)
    inner = by_parts(layer)
    made: torch.Tensor = by_parts(lambda x: inner(x).tanh())(torch.arange(14.0).reshape(7, 2))
    return made.detach()


def test_what_is_inside_of_a_part_is_not_split_again():
    (whole,) = on_ranks(1, nested)
    assert all(torch.allclose(found, whole) for found in on_ranks(3, nested))


def states_of_two(rank: int) -> int:
    """Two states for a batch of two samples are no list of the samples."""
    x, states = torch.zeros(2, 5, 3), (torch.zeros(1, 2, 4), torch.zeros(1, 2, 4))
    return len(by_parts(lambda x, states: nn.LSTM(3, 4, batch_first=True)(x, states)[0])(x, states))


def test_as_many_states_as_samples_are_each_cut():
    assert on_ranks(2, states_of_two) == [2, 2]


def counted(rank: int, split: bool = True) -> list[float]:
    """Running statistics of a layer that is given parts, and of one that is given whole batches, in a training."""
    torch.manual_seed(3)
    inside, outside = nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2)), nn.Sequential(nn.BatchNorm1d(2))
    if split:
        sync_batchnorm__joined(inside)
        sync_batchnorm__joined(outside)
    x = torch.randn(7, 3)
    outside((by_parts(inside) if split else inside)(x))
    with torch.no_grad():
        (by_parts(inside) if split else inside)(x + 1)
    return [*inside[1].running_var.tolist(), *outside[0].running_mean.tolist(), *outside[0].running_var.tolist()]


def test_batchnorm_counts_a_whole_batch_once():
    for found in on_ranks(2, counted):
        assert found == pytest.approx(counted(0, split=False), abs=1e-5)


def strides(rank: int, split: bool = True) -> list[Any]:
    """How pictures lie in memory behind a layer that was given them with their colours last: so is noise drawn."""
    torch.manual_seed(3)
    layer, found = nn.Conv2d(3, 4, 2), []
    for total in TOTALS:
        made = (by_parts(layer) if split else layer)(torch.randn(total, 5, 6, 3).permute(0, 3, 1, 2))
        found += [made.stride() if total > 1 else None, F.dropout(made, 0.5).detach()]
    return found


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_what_is_put_together_lies_in_memory_as_it_does_on_one_process(ranks):
    one = strides(0, split=False)
    for several in on_ranks(ranks, strides):
        assert several[::2] == one[::2]
        for found, expected in zip(several[1::2], one[1::2], strict=True):
            torch.testing.assert_close(found, expected)
