"""The wrapper passes for the model that it wraps, and still does what DDP does."""

from __future__ import annotations

import copy
import io
from typing import Any

import pytest
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from nbddp.script.parts.ddp import DDP, DDP__both, DDP__plain, sync_batchnorm__exact
from tests.script.parts.ranks import on_ranks


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(4, 3)
        self.norm = nn.BatchNorm1d(3)
        self.out = nn.Linear(3, 2)
        self.scale = nn.Parameter(torch.ones(2))
        self.dim, self.device, self.hidden, self.seen = 512, "here", None, 0

    def forward(self, x: torch.Tensor) -> Any:
        self.seen += 1
        return self.out(torch.relu(self.norm(self.fc(x)))) * self.scale

    def predict(self, x: torch.Tensor) -> Any:
        return self(x).argmax(1)

    def frozen(self) -> Net:
        return self.requires_grad_(False)


def build(wrapper: Any = DDP) -> tuple[Net, Any]:
    torch.manual_seed(0)
    net = Net()
    return net, wrapper(net)


def names(rank: int) -> None:
    net, model = build()
    for method in ("named_parameters", "named_buffers", "named_modules", "named_children"):
        expected, found = dict(getattr(net, method)()), dict(getattr(model, method)())
        assert list(found) == list(expected)
        assert all(found[name] is expected[name] for name in found)
    for method in ("parameters", "buffers", "modules", "children"):
        assert [id(x) for x in getattr(model, method)()] == [id(x) for x in getattr(net, method)()]
    assert list(model.state_dict()) == list(net.state_dict())
    assert [name for name, _ in model.named_parameters(prefix="x", recurse=False)] == ["x.scale"]
    assert model.get_submodule("fc") is net.fc


def loading(rank: int) -> None:
    net, model = build()
    state = {name: torch.full_like(value, 2) for name, value in net.state_dict().items()}
    assert str(model.load_state_dict(state)) == "<All keys matched successfully>"
    assert net.fc.weight.eq(2).all()


def attributes(rank: int) -> None:
    net, model = build()
    assert (model.dim, model.device, model.hidden) == (512, "here", None)
    model.hidden = 7
    model.fresh = [1]
    assert (net.hidden, net.fresh, model.fresh) == (7, [1], [1])
    model.out = nn.Linear(3, 2)
    assert net.out is model.out
    with pytest.raises(AttributeError, match="'Net' object has no attribute 'absent'"):
        model.absent  # noqa: B018
    assert not hasattr(model, "absent")
    assert model.predict(torch.randn(2, 4)).shape == (2,)
    assert model.frozen() is net


class Kind(Net):
    """Names of torch's own modules, given to other things."""

    def __init__(self) -> None:
        super().__init__()
        self.type, self.join, self.forwards = "mlp", 3, 0

    def forward(self, x: torch.Tensor) -> Any:
        self.forwards += 1
        return super().forward(x) if self.type == "mlp" else x

    def parameters(self, recurse: bool = True) -> Any:
        return self.fc.parameters(recurse)

    def half(self) -> Kind:
        return self


def names_of_torch(rank: int) -> None:
    net = Kind()
    model = DDP(net)
    assert (model.type, model.join) == ("mlp", 3)
    assert [id(p) for p in model.parameters()] == [id(p) for p in net.fc.parameters()]
    assert model.half() is model
    model(torch.randn(4, 4)).sum().backward()
    assert net.forwards == model.forwards == 1
    model.type = "other"
    assert net.type == model.type == "other"
    with model.no_sync():
        assert model(torch.ones(2)).sum() == 2


def modes(rank: int) -> None:
    net, model = build()
    assert model.training
    assert model.eval() is model
    assert not any((model.training, net.training, net.norm.training))
    assert model.train() is model
    assert model.training
    assert net.norm.training
    model.training = False
    assert net.training is False


def moves(rank: int) -> None:
    net, model = build()
    assert model.double() is model
    assert {p.dtype for p in net.parameters()} == {torch.float64}
    assert model.to("cpu") is model
    seen: list[Any] = []
    assert model.apply(seen.append) is model
    assert seen == [net.fc, net.norm, net.out, net]
    assert model.requires_grad_(False) is model
    assert not any(p.requires_grad for p in net.parameters())


def copies(rank: int) -> None:
    net, model = build()
    for twin in (copy.deepcopy(model), saved_and_loaded(model), saved_and_loaded({"m": model})["m"]):
        assert type(twin) is Net
        assert twin.fc.weight is not net.fc.weight
        assert twin.fc.weight.equal(net.fc.weight)
    again = DDP(copy.deepcopy(model))
    again(torch.randn(3, 4)).sum().backward()


def saved_and_loaded(thing: Any) -> Any:
    buffer = io.BytesIO()
    torch.save(thing, buffer)
    buffer.seek(0)
    return torch.load(buffer, weights_only=False)


def sequences(rank: int) -> None:
    layers = [nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 1)]
    model = DDP(nn.Sequential(*layers))
    assert len(model) == 3
    assert model[0] is layers[0]
    assert list(model) == layers
    heads = DDP(nn.ModuleDict({"a": nn.Linear(2, 2)}))
    assert "a" in heads
    assert "b" not in heads
    assert list(heads.keys()) == ["a"]


@pytest.mark.parametrize("check", [names, loading, attributes, names_of_torch, modes, moves, copies])
def test_it_passes_for_the_model(check):
    on_ranks(1, check)


def test_it_is_a_sequence_where_the_model_is_one():
    on_ranks(1, sequences)


def train(rank: int, world_size: int, wrapper: str | None) -> tuple[Any, ...]:
    """Evaluates now and then: on rank 0 alone without gradients, with them for a number of times that differs."""
    net, model = build(
        {"DDP": DDP, "plain": DDP__plain, "bare": DistributedDataParallel}[wrapper] if wrapper else lambda net: net
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    generator = torch.Generator().manual_seed(1)
    for _ in range(4):
        x = torch.randn(12, 4, generator=generator)
        model.train()
        net.norm.eval()  # a batch's statistics are the only thing that a share of it would change
        optimizer.zero_grad()
        model(x[rank::world_size]).square().mean().backward()
        optimizer.step()
        if wrapper != "bare":
            model.eval()
            for _ in range(3 * (rank + 1)):
                model(x)
            if rank == 0:
                with torch.no_grad():
                    model(x)
    return net.state_dict(), [p.grad for p in net.parameters()]


@pytest.mark.parametrize("wrapper", ["DDP", "plain", "bare"])
def test_it_averages_gradients_and_evaluates_on_some_ranks_only(wrapper):
    expected = on_ranks(1, train, 1, None)[0]
    for found in on_ranks(3, train, 3, wrapper):
        torch.testing.assert_close(found, expected)


def buffers_follow_rank_0(rank: int) -> Any:
    net, model = build()
    model.train()
    found = []
    for _ in range(2):
        (model(draw(rank)).sum() + model(draw(rank + 5)).sum()).backward()
        for buffer in model.buffers():
            dist.broadcast(buffer, 0)
        found.append(net.norm.running_mean.clone())
        model.eval()
        with torch.no_grad():
            model(torch.ones(2, 4))
        assert net.norm.running_mean.equal(found[-1])
        model.train()
    return found, net.norm.running_var


def draw(seed: int) -> torch.Tensor:
    return torch.randn(6, 4, generator=torch.Generator().manual_seed(seed))


def test_all_ranks_evaluate_with_the_buffers_of_rank_0():
    first, second = on_ranks(2, buffers_follow_rank_0)
    (alone,) = on_ranks(1, buffers_follow_rank_0)
    torch.testing.assert_close(first, second, rtol=0, atol=0)
    torch.testing.assert_close(first[0][0], alone[0][0])


def plain(rank: int) -> None:
    net, model = build(DDP__plain)
    assert list(model.state_dict()) == list(net.state_dict())
    assert str(model.load_state_dict(net.state_dict())) == "<All keys matched successfully>"
    assert model.hidden is None
    assert model.predict(torch.randn(2, 4)).shape == (2,)
    assert not hasattr(model, "absent")
    assert not model.eval().fc.training


def test_the_short_variant():
    on_ranks(1, plain)


def for_both(rank: int) -> None:
    _, model = build(DDP__both)
    with torch.no_grad():
        for _ in range(rank + 1):  # as often as each of them likes
            model(torch.randn(2, 4))
    model(torch.randn(2, 4)).sum().backward()


def test_the_shortest_variant_evaluates_alone():
    on_ranks(2, for_both)


def normalized(rank: int, samples: list[list[float]]) -> tuple[list[list[float]], list[float], list[float]]:
    """The outputs and the gradients of this rank's samples, and the running variance."""
    layer = torch.nn.Sequential(torch.nn.BatchNorm1d(2))
    sync_batchnorm__exact(layer)
    x = torch.tensor(samples)[rank::2].requires_grad_()
    out = layer(x)
    (out[:, 0] * x[:, 1]).sum().backward()
    assert x.grad is not None
    layer.eval()
    return x.grad.tolist(), out.flatten().tolist(), [*layer[0].running_var.tolist(), *layer(x).flatten().tolist()]


def test_batchnorm_is_that_of_all_samples():
    samples = [[1.0, 2.0], [3.0, -1.0], [0.5, 4.0], [2.0, 2.5], [7.0, 1.0]]
    layer = torch.nn.BatchNorm1d(2)
    x = torch.tensor(samples, requires_grad=True)
    out = layer(x)
    (out[:, 0] * x[:, 1]).sum().backward()
    assert x.grad is not None
    layer.eval()
    for rank, (gradient, values, after) in enumerate(on_ranks(2, normalized, samples)):
        assert torch.allclose(torch.tensor(gradient), x.grad[rank::2], atol=1e-5)
        assert values == pytest.approx(out[rank::2].flatten().tolist(), abs=1e-5)
        assert after == pytest.approx([*layer.running_var.tolist(), *layer(x)[rank::2].flatten().tolist()], abs=1e-5)


def penalised(layer: torch.nn.Module, x: torch.Tensor) -> torch.Tensor:
    """Gradients of what gradients are made of, as of a WGAN's penalty: those of the samples."""
    x = x.requires_grad_()
    (slopes,) = torch.autograd.grad((layer(x) ** 3).sum(), x, create_graph=True)
    (found,) = torch.autograd.grad((slopes**2).sum(), x)
    return found


def penalised_part(rank: int, samples: list[list[float]]) -> list[list[float]]:
    layer = torch.nn.Sequential(torch.nn.BatchNorm1d(2))
    sync_batchnorm__exact(layer)
    found: list[list[float]] = penalised(layer, torch.tensor(samples)[rank::2]).tolist()
    return found


def test_gradients_of_gradients_go_through_it():
    samples = [[1.0, 2.0], [3.0, -1.0], [0.5, 4.0], [2.0, 2.5], [7.0, 1.0]]
    whole = penalised(torch.nn.BatchNorm1d(2), torch.tensor(samples))
    for rank, found in enumerate(on_ranks(2, penalised_part, samples)):
        assert torch.allclose(torch.tensor(found), whole[rank::2], rtol=1e-3, atol=1e-3)
