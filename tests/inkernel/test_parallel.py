"""Models in nn.DataParallel while a cell runs: the numbers of one device, and the model's own self after it."""

from __future__ import annotations

import copy
import io
import pickle
from collections.abc import Iterator

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from nbddp.inkernel import parallel
from tests.inkernel.on_cpu import OnCpu

SAID: list[str] = []


@pytest.fixture
def models(monkeypatch: pytest.MonkeyPatch) -> Iterator[parallel.Models]:
    monkeypatch.setattr(parallel, "Split", OnCpu)
    SAID.clear()
    made = parallel.Models(("cpu", "cpu"), SAID.append)
    yield made
    made.undo()


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.net = nn.Linear(3, 2)
        self.seen: list[int] = []
        self.answer = 42

    def forward(self, x):
        self.seen.append(len(x))
        return self.net(x)

    def loss(self, x, y):
        return F.cross_entropy(self(x), y)


def gradients(model: nn.Module, loss: torch.Tensor) -> list[torch.Tensor]:
    model.zero_grad()
    loss.backward()
    return [p.grad.clone() for p in model.parameters() if p.grad is not None]


def same(one: list[torch.Tensor], other: list[torch.Tensor]) -> bool:
    return len(one) == len(other) > 0 and all(torch.allclose(a, b, atol=1e-6) for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize("samples", [6, 5, 2, 1])
def test_the_gradients_of_one_device(models, samples):
    model, x, y = Net(), torch.randn(samples, 3), torch.randint(0, 2, (samples,))
    expected = gradients(model, F.cross_entropy(model(x), y))
    models.add(model)
    model.seen.clear()
    assert same(gradients(model, F.cross_entropy(model(x), y)), expected)
    halves = [(samples + 1) // 2, samples // 2] if samples > 1 else [1]
    assert model.seen[-len(halves) :] == halves
    assert SAID == []


@pytest.mark.parametrize("samples", [6, 5])
def test_a_method_that_computes_a_loss_is_split_too(models, samples):
    model, x, y = Net(), torch.randn(samples, 3), torch.randint(0, 2, (samples,))
    expected, loss = gradients(model, model.loss(x, y)), model.loss(x, y)
    models.add(model, "loss")
    assert torch.allclose(model.loss(x, y), loss)
    assert same(gradients(model, model.loss(x, y)), expected)
    assert model.seen[-2:] == [3, samples - 3]


def test_the_model_stays_itself(models):
    model = Net()
    keys = list(model.state_dict())
    models.add(model)
    assert type(model) is not Net
    assert isinstance(model, Net)
    assert repr(model).startswith("Net(")
    assert model.answer == 42
    assert list(model.state_dict()) == keys
    assert [name for name, _ in model.named_modules()] == ["", "net"]
    assert type(copy.deepcopy(model)) is Net
    assert type(pickle.loads(pickle.dumps(model))) is Net
    whole = io.BytesIO()
    torch.save(model, whole)
    models.undo()
    assert type(model) is Net
    assert "forward" not in vars(model)


def test_states_of_an_rnn_through_many_steps(models):
    class Recurrent(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.rnn, self.out = nn.LSTM(3, 4, num_layers=2, batch_first=True), nn.Linear(4, 1)

        def forward(self, x, state):
            x, state = self.rnn(x, state)
            return {"out": self.out(x), "state": state}

    model, x = Recurrent(), torch.randn(6, 5, 3)
    state = torch.zeros(2, 6, 4), torch.zeros(2, 6, 4)

    def unrolled() -> torch.Tensor:
        now, total = state, torch.zeros(())
        for _ in range(3):
            made = model(x, now)
            now, total = made["state"], total + made["out"].square().mean()
        return total

    expected = gradients(model, unrolled())
    models.add(model)
    assert same(gradients(model, unrolled()), expected)
    assert SAID == []


def test_hooks_see_the_whole_once(models):
    model = Net()
    shapes = []
    model.register_forward_hook(lambda _m, _i, out: shapes.append(len(out)))
    models.add(model)
    model(torch.randn(6, 3))
    assert shapes == [6]


def test_running_statistics_are_updated_and_evaluation_is_exact(models):
    model, x = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4)), torch.randn(8, 3)
    models.add(model)
    before = model[1].running_mean.clone()
    model(x)
    assert not torch.equal(model[1].running_mean, before)
    model.eval()
    with torch.no_grad():
        split = model(x)
        models.undo()
        assert torch.allclose(split, model(x), atol=1e-6)


def test_what_cannot_be_split_is_computed_whole_and_named_once(models):
    class Mixing(Net):
        def forward(self, x):
            x = super().forward(x)
            return x - x.mean(0)

    model, x = Mixing(), torch.randn(6, 3)
    expected = model(x)
    models.add(model)
    for _ in range(3):
        assert torch.equal(model(x), expected)
    assert len(SAID) == 1
    assert SAID[0].startswith("Mixing.forward is computed on one device: ")


def test_outputs_that_change_their_form(models):
    class Changing(Net):
        def forward(self, x):
            out = super().forward(x)
            return (out, out) if len(self.seen) > 12 else out

    model, x = Changing(), torch.randn(6, 3)
    models.add(model)
    while not isinstance(made := model(x), tuple):
        assert made.shape == (6, 2)
    assert made[0].shape == (6, 2)


def test_an_error_of_the_model_is_the_models_own(models):
    model = Net()
    models.add(model)
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
        model(torch.randn(6, 4))
    models.undo()
    assert type(model) is Net


def test_models_that_are_left_as_they_are(models):
    wrapped, own, scripted = nn.DataParallel(Net()), Net(), torch.jit.ScriptModule()
    own.forward = lambda x: own.net(x) + 1  # type: ignore[method-assign]
    for model in (wrapped, own, scripted):
        kind = type(model)
        models.add(model)
        assert type(model) is kind
    assert len(SAID) == 3


def test_one_device_wraps_nothing():
    model = Net()
    parallel.Models(("cuda:0",), SAID.append).add(model)
    assert type(model) is Net
