"""nn.DataParallel for as long as a cell trains, in the models themselves: they stay the same objects.

A wrapper beside the model would be missed by everything that holds the model: a trainer, a closure, an average of its
weights. So the model's class is exchanged for one of its own whose forward goes through nn.DataParallel; keys of
checkpoints, attributes and `isinstance` are what they were.
"""

from __future__ import annotations

import copyreg
import functools
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import nn
from torch.utils._pytree import tree_flatten, tree_unflatten

from nbddp.inkernel.joining import joined
from nbddp.inkernel.layout import CannotSplit, Layout, find_layout, split

Devices = Sequence[Any]
Say = Callable[[str], object]


class Split(nn.DataParallel[nn.Module]):
    """One method of a model. It splits by samples, wherever in the arguments those are, or not at all."""

    def __init__(self, model: nn.Module, devices: Devices, method: str, say: Say) -> None:
        super().__init__(model, list(devices))
        self.function = getattr(type(model), method)
        self.called = f"{type(model).__name__}.{method}"
        self.say = say
        self.known: list[tuple[Any, Layout | None]] = []
        self.layout: Layout | None = None
        self.counts: list[int] = []

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        self.layout = self._layout(args, kwargs)
        if self.layout is None:
            return self.function(self.module, *args, **kwargs)
        try:
            return super().forward(*args, **kwargs)
        except _CannotJoin:
            self.known = [(key, None) for key, _ in self.known]
            self._refuse("its outputs have a different structure than before")
            return self.function(self.module, *args, **kwargs)

    def scatter(self, inputs: tuple[Any, ...], kwargs: dict[str, Any] | None, device_ids: Devices) -> Any:
        assert self.layout is not None
        leaves, spec = tree_flatten((inputs, kwargs or {}))
        dimension, first = next((d, leaf) for d, leaf in zip(self.layout.inputs, leaves, strict=True) if d is not None)
        self.counts = [chunk.shape[dimension] for chunk in first.chunk(len(device_ids), dimension)]
        parts = split(leaves, spec, self.layout.inputs, len(device_ids))
        moved = [_moved(part, device) for part, device in zip(parts, device_ids, strict=False)]
        return tuple(part[0] for part in moved), tuple(part[1] for part in moved)

    def replicate(self, module: Any, device_ids: Devices) -> list[Any]:
        replicas = super().replicate(module, device_ids)
        for part in (part for replica in replicas for part in replica.modules()):
            part._parameters.update(vars(part).get("_former_parameters", {}))  # noqa: SLF001 -- for self.parameters()
        return replicas

    def parallel_apply(self, replicas: Sequence[Any], inputs: Sequence[Any], kwargs: Any) -> list[Any]:
        return super().parallel_apply(self.functions(replicas), inputs, kwargs)

    def functions(self, replicas: Sequence[Any]) -> list[Any]:
        """The method of each replica, past what its class has put before it; in the precision of this thread."""
        return [functools.partial(self._computed, _precision(), replica) for replica in replicas]

    def _computed(self, precision: Any, replica: Any, *args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        if precision is None:
            return self.function(replica, *args, **kwargs)
        with torch.autocast("cuda", dtype=precision):  # torch's own threads would take the default one
            return self.function(replica, *args, **kwargs)

    def gather(self, outputs: Any, output_device: Any) -> Any:
        assert self.layout is not None
        parts = [tree_flatten(_moved(output, output_device)) for output in outputs]
        if any(spec != self.layout.spec for _, spec in parts):
            raise _CannotJoin
        leaves = [
            joined(how, [part[0][at] for part in parts], self.counts) for at, how in enumerate(self.layout.outputs)
        ]
        return tree_unflatten(leaves, self.layout.spec)

    def _layout(self, args: Any, kwargs: Any) -> Layout | None:
        leaves, spec = tree_flatten((args, kwargs))
        key = (spec, self.module.training, [_kind(leaf) for leaf in leaves])
        for known, layout in self.known:
            if known == key and (layout is None or layout.fits(leaves)):
                return layout
        try:
            self._check_place()
            found = find_layout(self.module, self.function, (args, kwargs), len(self.device_ids))
        except CannotSplit as reason:
            self._refuse(str(reason))
            self.known.insert(0, (key, None))
            return None
        except Exception:  # noqa: BLE001 -- the model's own error: the call itself is about to raise it
            return None
        if found is not None:
            self.known.insert(0, (key, found))
        return found

    def _check_place(self) -> None:
        away = [p.device for p in self.module.parameters() if p.device != self.src_device_obj]
        if away:
            raise CannotSplit(f"it is on {away[0]}, but DataParallel starts from {self.src_device_obj}")

    def _refuse(self, reason: str) -> None:
        self.say(f"{self.called} is computed on one device: {reason}")


class _CannotJoin(Exception):
    pass


def _precision() -> Any:
    """Of autocast on GPUs; None where it is off."""
    if not torch.is_autocast_enabled():
        return None
    return torch.get_autocast_dtype("cuda") if hasattr(torch, "get_autocast_dtype") else torch.get_autocast_gpu_dtype()


def _kind(leaf: Any) -> Any:
    return (leaf.dim(), leaf.dtype) if isinstance(leaf, torch.Tensor) else (type(leaf), repr(leaf)[:80])


def _moved(tree: Any, device: Any) -> Any:
    leaves, spec = tree_flatten(tree)
    return tree_unflatten([leaf.to(device) if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves], spec)


class Models:
    """The models of one cell."""

    def __init__(self, devices: Devices, say: Say) -> None:
        self.devices = devices
        self.say = say
        self._before: dict[int, tuple[nn.Module, type]] = {}

    def add(self, model: nn.Module, *methods: str) -> None:
        """From here on it is split; one that cannot be is left as it is, with a word."""
        if id(model) in self._before or len(self.devices) < 2:
            return
        own = type(model)
        if reason := _unfit(model):
            self.say(f"{own.__name__} is computed without splitting: {reason}")
            return
        routed = {name: _routed(Split(model, self.devices, name, self.say), name) for name in ("forward", *methods)}
        names = {"__module__": own.__module__, "__qualname__": own.__qualname__, "__reduce_ex__": _as(own)}
        self._before[id(model)] = model, own
        model.__class__ = type(own.__name__, (own,), {**names, **routed})

    def undo(self) -> None:
        """All of them as they were."""
        while self._before:
            _, (model, own) = self._before.popitem()
            model.__class__ = own


def _unfit(model: Any) -> str:
    if isinstance(model, nn.DataParallel):
        return "the notebook has put it into nn.DataParallel already"
    if not isinstance(model, nn.Module) or isinstance(model, torch.jit.ScriptModule):
        return "it is not a plain module"
    if hasattr(model, "_orig_mod"):
        return "it was made by torch.compile, and compiled modules cannot be replicated"
    return "its forward() was replaced on the object" if "forward" in vars(model) else ""


def _routed(splitter: Split, name: str) -> Callable[..., Any]:
    own = splitter.function

    @functools.wraps(own)
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        return own(self, *args, **kwargs) if "_is_replica" in vars(self) else splitter(*args, **kwargs)

    method.__name__ = name
    return method


def _as(own: type) -> Callable[[Any, Any], Any]:
    """Copied or saved, it is of the notebook's own class."""

    def reduce(self: Any, protocol: Any) -> Any:
        made, arguments, *rest = super(type(self), self).__reduce_ex__(protocol)
        if made.__name__ == "__newobj__" and len(arguments) == 1:  # pickle would ask it for the very class of the model
            return copyreg._reconstructor, (own, object, None), *rest  # type: ignore[attr-defined]  # noqa: SLF001
        return made, tuple(own if a is type(self) else a for a in arguments), *rest

    return reduce
