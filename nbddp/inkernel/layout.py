"""How a call of a model can be split by samples, found by experiment: what its parts give is compared with the whole.

nn.DataParallel splits everything at its first dimension and puts scalars side by side. That is wrong for the states of
an RNN, which have their samples second, and for losses. So the first call is computed in both ways, once, on copies
that share the parameters; where no way of splitting gives what the whole gives, the model is not split.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import TreeSpec, tree_flatten, tree_unflatten

from nbddp.inkernel.joining import How, how_joined

Function = Callable[..., Any]
DRAWS = ("rand", "normal", "bernoulli", "uniform", "exponential", "log_normal", "geometric", "cauchy", "poisson",
         "multinomial")  # fmt: skip


@dataclass(frozen=True)
class Layout:
    """Where the samples are: the dimension of each input (None: all of it goes to every part); how outputs join."""

    inputs: tuple[int | None, ...]
    outputs: tuple[How, ...]
    spec: TreeSpec  # of the output

    def fits(self, leaves: Sequence[Any]) -> bool:
        """Do all inputs that are to be split have as many samples?"""
        return len(leaves) == len(self.inputs) and len(set(self.sizes(leaves))) == 1

    def sizes(self, leaves: Sequence[Any]) -> list[int]:
        return [leaf.shape[d] for leaf, d in zip(leaves, self.inputs, strict=True) if d is not None]


class CannotSplit(Exception):
    """Why; the sentence goes on after "it is computed on one device: "."""


def find_layout(model: nn.Module, function: Function, arguments: tuple[Any, Any], parts: int) -> Layout | None:
    """None where this call does not tell: it has too few samples, or comes to nothing but zeros."""
    leaves, spec = tree_flatten(arguments)
    ways = list(dict.fromkeys(_ways(leaves)))
    if not ways:
        raise CannotSplit("it gets no tensor with samples")
    if next(leaf.shape[0] for leaf in leaves if isinstance(leaf, torch.Tensor) and leaf.dim()) < parts:
        return None
    try:
        return _found(model, function, (leaves, spec), ways, parts)
    finally:
        torch.clear_autocast_cache()  # weights cast without gradients must not be met again with them


def _found(
    model: nn.Module, function: Function, given: tuple[list[Any], TreeSpec], ways: list[Any], parts: int
) -> Layout | None:
    devices = sorted({t.device.index for t in model.parameters() if t.device.type == "cuda"})
    with torch.random.fork_rng(devices=devices), torch.no_grad(), _SameRandomNumbers():  # type: ignore[no-untyped-call]
        whole = _whole(model, function, *given)
        for way in ways:
            found = _tried(model, function, given, way, whole, parts)
            if found is not None:
                return found[0]
    raise CannotSplit("its result for a part of the batch is not the same part of its result for the whole batch")


def split(leaves: Sequence[Any], spec: TreeSpec, way: Sequence[int | None], parts: int) -> list[Any]:
    """The arguments of each part."""
    chunks = [None if d is None else leaf.chunk(parts, d) for leaf, d in zip(leaves, way, strict=True)]
    number = next(len(c) for c in chunks if c is not None)
    return [
        tree_unflatten([leaf if c is None else c[part] for leaf, c in zip(leaves, chunks, strict=True)], spec)
        for part in range(number)
    ]


def shadow(model: nn.Module) -> nn.Module:
    """A copy that shares the parameters and nothing else; torch's own modules in it draw no random numbers."""
    modules = list(model.modules())
    copies: dict[int, nn.Module] = {id(module): _copy(module) for module in modules}
    for module in modules:
        copy = copies[id(module)]
        copy._parameters = dict(module._parameters)  # noqa: SLF001
        copy._buffers = {n: b if b is None else b.clone() for n, b in module._buffers.items()}  # noqa: SLF001
        copy._modules = {n: m if m is None else copies[id(m)] for n, m in module._modules.items()}  # noqa: SLF001
        if type(module).__module__.startswith("torch."):
            copy.training = False
    return copies[id(model)]


def _copy(module: nn.Module) -> nn.Module:
    """As torch makes replicas."""
    copy: nn.Module = module._replicate_for_data_parallel()  # type: ignore[no-untyped-call]  # noqa: SLF001
    return copy


def _whole(model: nn.Module, function: Function, leaves: Sequence[Any], spec: TreeSpec) -> tuple[list[Any], TreeSpec]:
    copy = shadow(model)
    before = _attributes(copy)
    outputs = _called(copy, function, leaves, spec)
    if _attributes(copy) != before:
        raise CannotSplit("it stores computed values in its attributes, which would be lost if the batch were split")
    return tree_flatten(outputs)


def _called(copy: nn.Module, function: Function, leaves: Sequence[Any], spec: TreeSpec) -> Any:
    own = [leaf.clone() if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves]
    args, kwargs = tree_unflatten(own, spec)
    return function(copy, *args, **kwargs)


def _attributes(model: nn.Module) -> list[dict[str, int]]:
    own = ("_parameters", "_buffers", "_modules")
    return [{n: id(v) for n, v in vars(m).items() if n not in own} for m in model.modules()]


def _tried(
    model: nn.Module,
    function: Function,
    given: tuple[Sequence[Any], TreeSpec],
    way: tuple[int | None, ...],
    whole: tuple[list[Any], TreeSpec],
    parts: int,
) -> tuple[Layout | None] | None:
    """A layout where this way gives what the whole gives, one of None where that is open; None where it does not."""
    leaves, spec = given
    sizes = {leaf.shape[d] for leaf, d in zip(leaves, way, strict=True) if d is not None}
    if len(sizes) != 1 or max(sizes) < parts:
        return None
    pieces, counts = [], []
    try:
        for arguments in split(leaves, spec, way, parts):
            own = tree_flatten(arguments)[0]
            counts.append(next(leaf.shape[d] for leaf, d in zip(own, way, strict=True) if d is not None))
            pieces.append(tree_flatten(_called(shadow(model), function, own, spec)))
    except Exception:  # noqa: BLE001 -- the user's model may raise anything when it is given what does not fit
        return None
    if any(piece[1] != whole[1] for piece in pieces):
        return None
    outputs = [how_joined(w, [p[0][at] for p in pieces], counts) for at, w in enumerate(whole[0])]
    if any(how == "no" for how in outputs):
        return None
    return (None,) if "open" in outputs else (Layout(way, tuple(outputs), whole[1]),)


def _ways(leaves: Sequence[Any]) -> Iterator[tuple[int | None, ...]]:
    """By which dimensions to split: those of the first tensor decide how many samples there are."""
    tensors = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor) and leaf.dim() > 0]
    for dimension, preferred in product((0, 1), (0, 1)):
        if tensors and dimension < tensors[0].dim():
            size = tensors[0].shape[dimension]
            order = (preferred, 1 - preferred)
            yield tuple(dimension if leaf is tensors[0] else _samples(leaf, size, order) for leaf in leaves)


def _samples(leaf: Any, size: int, order: tuple[int, int]) -> int | None:
    if not isinstance(leaf, torch.Tensor):
        return None
    return next((d for d in order if d < leaf.dim() and leaf.shape[d] == size), None)


class _SameRandomNumbers(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Noise is the same for every sample, so that a model that draws some can be compared with its parts."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = func.overloadpacket.__name__
        if name == "native_dropout":
            return args[0].clone(), torch.ones_like(args[0], dtype=torch.bool)
        out = func(*args, **(kwargs or {}))
        if name.startswith(DRAWS) and isinstance(out, torch.Tensor):
            out.fill_(0.5 if out.is_floating_point() else 0)
        return out
