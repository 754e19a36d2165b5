"""Agreement of a run that draws its own random numbers: the same course of training, not the same digits."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import repeat

import torch

from .compare import chosen
from .expectation import Expectation
from .outcome import NUMBER, Outcome, Tensors


def alike(oracle: Outcome, run: Outcome, wanted: Expectation) -> list[str]:
    """Same shapes everywhere, weights of about the same size, and last metrics within the relative tolerance."""
    names = sorted(oracle.states.keys() & run.states.keys())
    found = [] if names else [f"no model in the result: {sorted(run.states)}, oracle has {sorted(oracle.states)}"]
    for name in names:
        found += [f"model {name}: {text}" for text in _unlike(oracle.states[name], run.states[name])]
    for name in sorted(oracle.files if wanted.saves is None else wanted.saves):
        texts = _unlike(oracle.files[name], run.files[name]) if name in run.files else ["was not written"]
        found += [f"file {name}: {text}" for text in texts]
    found += [f"value {name} did not come back" for name in wanted.values if name not in run.values]
    printed = _last_line(chosen(oracle, wanted.metrics), chosen(run, wanted.metrics), wanted.tolerance)
    return found + list(printed)


def _unlike(expected: Tensors, got: Tensors) -> Iterator[str]:
    if expected.keys() != got.keys():
        yield f"other entries: {sorted(expected.keys() ^ got.keys())[:5]}"
    for key in sorted(expected.keys() & got.keys()):
        a, b = expected[key].double(), got[key].double()
        if a.shape != b.shape:
            yield f"{key} has shape {tuple(b.shape)}, the oracle {tuple(a.shape)}"
        elif not torch.isfinite(b).all():
            yield f"{key} is not finite"
        elif a.numel() > 50 and not 0.5 < (b.norm() + 1e-3) / (a.norm() + 1e-3) < 2.0:
            yield f"{key} has norm {b.norm():.4g}, the oracle {a.norm():.4g}"


def _last_line(expected: list[str], got: list[str], tolerance: float) -> Iterator[str]:
    if len(expected) != len(got):
        yield f"{len(got)} lines of metrics, the oracle printed {len(expected)}"
    if not expected or not got:
        yield "no metrics to compare: does the header's pattern match?"
        return
    a, b = expected[-1], got[-1]
    if NUMBER.sub("#", a) != NUMBER.sub("#", b):
        yield f"printed '{b}', the oracle '{a}'"
    elif not all(map(_near, NUMBER.findall(a), NUMBER.findall(b), repeat(tolerance))):
        yield f"printed '{b}', the oracle '{a}': more than {tolerance:.0%} apart"


def _near(expected: str, got: str, tolerance: float) -> bool:
    """Small numbers get a little room of their own: 3 % of a unit."""
    a, b = float(expected), float(got)
    return math.isfinite(b) and abs(a - b) <= tolerance * max(abs(a), abs(b)) + 0.03
