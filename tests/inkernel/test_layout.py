"""How a call can be split by samples, found by comparing parts with the whole."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from nbddp.inkernel.layout import CannotSplit, Layout, find_layout


def layout(model: nn.Module, *args: object, method: str = "forward", **kwargs: object) -> Layout:
    found = find_layout(model, getattr(type(model), method), (args, kwargs), 2)
    assert found is not None
    return found


class Recurrent(nn.Module):
    def __init__(self, *, batch_first: bool = True) -> None:
        super().__init__()
        self.rnn = nn.LSTM(3, 4, num_layers=2, batch_first=batch_first, dropout=0.5)

    def forward(self, x, state):
        return self.rnn(x, state)


def states(samples: int) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.randn(2, samples, 4), torch.randn(2, samples, 4)


def test_the_states_of_an_rnn_have_their_samples_second():
    found = layout(Recurrent(), torch.randn(6, 5, 3), states(6))
    assert (found.inputs, found.outputs) == ((0, 1, 1), (0, 1, 1))


def test_samples_may_come_second_everywhere():
    found = layout(Recurrent(batch_first=False), torch.randn(5, 6, 3), states(6))
    assert (found.inputs, found.outputs) == ((1, 1, 1), (1, 1, 1))


def test_as_many_layers_as_samples():
    found = layout(Recurrent(), torch.randn(2, 5, 3), states(2))
    assert found.inputs == (0, 1, 1)


def test_sequences_that_come_first_are_not_taken_for_samples():
    """One input alone: its first dimension are the times, which must not be cut."""
    model = nn.GRU(3, 4)
    assert layout(model, torch.randn(5, 6, 3)).inputs == (1,)


@pytest.mark.parametrize("shape", [(6, 1, 4, 4), (6, 1)], ids=["images of one channel", "numbers"])
def test_a_second_dimension_of_one_is_no_lack_of_samples(shape):
    x = torch.randn(shape)
    model = nn.Sequential(nn.Flatten(), nn.Linear(x[0].numel(), 3), nn.BatchNorm1d(3))
    assert layout(model, x).inputs == (0,)


class Several(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.net = nn.Linear(3, 2)

    def forward(self, batch, scale=1.0, *, flag=None):
        out = self.net(batch["x"]) * scale
        return {"logits": out, "pair": (out.sum(1), "name"), "flag": flag, "weight": self.net.weight.norm()}

    def loss(self, x, y):
        return F.cross_entropy(self.net(x), y)

    def total(self, x, y):
        return F.cross_entropy(self.net(x), y, reduction="sum"), len(x)

    def number(self, x, y):
        return self.loss(x, y).item()


def test_dictionaries_tuples_and_what_is_no_tensor():
    found = layout(Several(), {"x": torch.randn(5, 3)}, 2.0, flag=None)
    assert found.inputs[:2] == (0, None)
    assert found.outputs[:3] == (0, 0, "same")
    assert found.outputs[-1] == "mean"


@pytest.mark.parametrize(("method", "how"), [("loss", "mean"), ("number", "mean")])
def test_losses_of_means(method, how):
    found = layout(Several(), torch.randn(5, 3), torch.tensor([0, 1, 1, 0, 1]), method=method)
    assert (found.inputs, found.outputs) == ((0, 0), (how,))


def test_losses_that_are_sums():
    with pytest.raises(CannotSplit, match="same part"):  # the count of samples, a plain number, cannot be joined
        layout(Several(), torch.randn(5, 3), torch.tensor([0, 1, 1, 0, 1]), method="total")

    class Sum(Several):
        def forward(self, x, y):
            return self.total(x, y)[0]

    assert layout(Sum(), torch.randn(5, 3), torch.tensor([0, 1, 1, 0, 1])).outputs == ("sum",)


def test_noise_of_the_models_own():
    class Noisy(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.net = nn.Linear(3, 3)

        def forward(self, x):
            mean = F.dropout(self.net(x), 0.5)
            return mean + torch.randn_like(mean), torch.rand(len(x), 1) * x

    model, x = Noisy(), torch.randn(6, 3)
    before = torch.get_rng_state()
    assert layout(model, x).outputs == (0, 0)
    assert torch.equal(torch.get_rng_state(), before)


class Normalised(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(3)
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x):
        self.calls += 1
        return self.norm(x)


def test_batch_norm_and_buffers_are_left_as_they_were():
    model = Normalised()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    assert layout(model, torch.randn(6, 3)).outputs == (0,)
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    assert model.training
    assert model.norm.training


class Keeping(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.net = nn.Linear(3, 3)
        self.last = None

    def forward(self, x):
        self.last = self.net(x)
        return self.last


class Mixing(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.net = nn.Linear(3, 3)

    def forward(self, x):
        x = self.net(x)
        return x - x.mean(0)


def test_what_cannot_be_split_is_named():
    model = Keeping()
    with pytest.raises(CannotSplit, match="attributes"):
        layout(model, torch.randn(6, 3))
    assert model.last is None
    with pytest.raises(CannotSplit, match="same part"):
        layout(Mixing(), torch.randn(6, 3))
    with pytest.raises(CannotSplit, match="no tensor"):
        layout(Several(), 3)


def test_one_sample_and_nothing_but_zeros_leave_it_open():
    assert find_layout(nn.Linear(3, 2), nn.Linear.forward, ((torch.randn(1, 3),), {}), 2) is None
    model = Several()
    nn.init.zeros_(model.net.weight)

    class Zero(Several):
        def forward(self, x):
            return self.net(x).square().mean() * 0

    assert find_layout(Zero(), Zero.forward, ((torch.randn(4, 3),), {}), 2) is None
