"""Layers that make a share of a batch something else than a part of the whole: seen, and taken away where asked."""

from __future__ import annotations

import functools
import inspect
from typing import Any

import torch
import torch.distributed as dist
from torch.nn import functional
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.modules.dropout import _DropoutNd
from torch.nn.modules.module import register_module_forward_pre_hook

from nbddp.verify.inside.record import Recorder

FUNCTIONS = ("dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout")
LOSSES = ("cross_entropy", "nll_loss")


def watch(recorder: Recorder, without: frozenset[str]) -> dict[Any, Any]:
    """Modules just before they run, functions by their place in torch; those come back, with what replaces each."""

    def look(module: torch.nn.Module, _: object) -> None:
        if not torch.is_grad_enabled():
            return
        if isinstance(module, _BatchNorm) and module.training:
            _batchnorm(module, recorder, without)
        elif isinstance(module, _DropoutNd):
            _dropout(module, "p", recorder, without)
        elif isinstance(module, (torch.nn.RNNBase, torch.nn.MultiheadAttention)):
            _dropout(module, "dropout", recorder, without)

    register_module_forward_pre_hook(look)
    _watch_autocast(recorder, "autocast" in without)
    before = {name: getattr(functional, name) for name in (*FUNCTIONS, *LOSSES)}
    for name in FUNCTIONS:
        _watch_function(name, recorder, "dropout" in without)
    for name in LOSSES:
        _watch_weights(name, recorder, "weights" in without)
    return {original: getattr(functional, name) for name, original in before.items()}


def _batchnorm(module: Any, recorder: Recorder, without: frozenset[str]) -> None:
    recorder.sees("batchnorm")
    if "batchnorm" in without:
        module.eval()


def _dropout(module: Any, attribute: str, recorder: Recorder, without: frozenset[str]) -> None:
    if module.training and getattr(module, attribute) > 0:
        recorder.sees("dropout")
        if "dropout" in without:
            setattr(module, attribute, 0.0)


def _watch_function(name: str, recorder: Recorder, off: bool) -> None:
    original = getattr(functional, name)

    @functools.wraps(original)
    def drop(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:  # noqa: A002
        if training and p > 0:
            recorder.sees("dropout")
        return input if off else original(input, p, training, inplace)

    setattr(functional, name, drop)


def _watch_weights(name: str, recorder: Recorder, together: bool) -> None:
    """A mean weighted by class, or over labels that are not ignored: its divisor differs from share to share."""
    original = getattr(functional, name)
    signature = inspect.signature(original)

    @functools.wraps(original)
    def loss(*arguments: Any, **options: Any) -> Any:
        bound = signature.bind(*arguments, **options)
        bound.apply_defaults()
        given = bound.arguments
        if given["reduction"] != "mean" or given["target"].is_floating_point() or not torch.is_grad_enabled():
            return original(*arguments, **options)
        counted = given["target"] != given["ignore_index"]
        if given["weight"] is None and bool(counted.all()):
            return original(*arguments, **options)
        recorder.sees("weights")
        if not together or not dist.is_initialized():
            return original(*arguments, **options)
        given["reduction"] = "sum"
        return original(*bound.args, **bound.kwargs) / _mean_over_ranks(_divisor(given, counted))

    setattr(functional, name, loss)


def _divisor(given: Any, counted: torch.Tensor) -> torch.Tensor:
    labels = given["target"][counted]
    weight = given["weight"]
    return torch.tensor(float(labels.numel())) if weight is None else weight.detach()[labels].sum().cpu()


def _mean_over_ranks(value: torch.Tensor) -> float:
    found: list[Any] = [None] * dist.get_world_size()
    dist.all_gather_object(found, float(value))
    return float(sum(found) / len(found))


def _watch_autocast(recorder: Recorder, off: bool) -> None:
    enter: Any = torch.autocast.__enter__

    def entered(self: Any) -> Any:
        if self._enabled:
            recorder.sees("autocast")
            self._enabled = not off
        return enter(self)

    torch.autocast.__enter__ = entered  # type: ignore[method-assign]
