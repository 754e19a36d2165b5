"""What the analysis says of an expression over a batch, against real tensors that are split as those of several ranks.

In an expression, `x` and `y` have a row for each sample.
"""

from __future__ import annotations

import ast
import statistics
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
import sklearn.metrics
import torch
from torch.nn import functional

from nbddp.analysis.values import MOVED, PICKED, TURNED, WEIGHTED, Extent, Value
from tests.analysis.cells import BEFORE, batch, plan

SHARES = [(4, 4), (2, 5, 4)]
IMPORTS = "import copy, statistics\nimport numpy as np\nimport sklearn.metrics"
NAMES = {"torch": torch, "np": np, "F": functional, "sklearn": sklearn, "statistics": statistics,
         "copy": __import__("copy")}  # fmt: skip
NO_SUCH_THING = (RuntimeError, TypeError, IndexError, AttributeError, ValueError, AssertionError, ArithmeticError)


def claims(forms: Iterable[str]) -> dict[str, Value]:
    """One notebook has them all."""
    made = plan(*BEFORE, IMPORTS, batch(*(f"n = [{form}]" for form in forms)))
    lists = [n for n in ast.walk(made.program.tree) if isinstance(n, ast.Assign) and isinstance(n.value, ast.List)]
    return {ast.unparse(n.value.elts[0]): made.facts.value(n.value.elts[0]) for n in lists}  # type: ignore[attr-defined]


def false(said: dict[str, Value], forms: Iterable[str], shares: tuple[int, ...]) -> list[tuple[str, Extent]]:
    """The forms of which what is said is not so."""
    torch.manual_seed(1)
    whole = torch.randn(sum(shares), 8) * 3
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of torch and numpy, about what they no longer recommend
        for form in forms:
            of_all, parts = computed(form, whole), [computed(form, part) for part in whole.split(shares)]
            value = said[ast.unparse(ast.parse(form))]
            if of_all is not None and None not in parts and not holds(value, parts, of_all, shares):
                found.append((form, value.extent))
    return found


def computed(form: str, x: torch.Tensor) -> torch.Tensor | None:
    """None where there is no such thing, or something other than numbers comes of it."""
    try:
        result = eval(form, {**NAMES, "x": x.clone(), "y": x.flip(1) + 1})
    except NO_SUCH_THING:
        return None
    if isinstance(result, np.ndarray | np.generic | int | float):
        result = torch.as_tensor(np.ascontiguousarray(result)).reshape(np.shape(result))
    return result.double() if isinstance(result, torch.Tensor) and not result.is_complex() else None


def holds(value: Value, parts: list[Any], of_all: torch.Tensor, shares: tuple[int, ...]) -> bool:
    if value.extent is Extent.VARYING or value.of(PICKED, MOVED, WEIGHTED, TURNED):
        return True
    if value.extent is Extent.SAMPLES:
        rows = {part.shape[1:] for part in (*parts, of_all)}
        return len(of_all.shape) > 0 and len(rows) == 1 and same(torch.cat(parts), of_all)
    if len({part.shape for part in parts}) > 1:
        return False
    if value.extent is Extent.MEAN:  # where the shares are unlike, a mean counts as often as it has samples
        return same(sum(p * n for p, n in zip(parts, shares, strict=True)) / sum(shares), of_all)
    together = {Extent.SUM: sum(parts), Extent.UNIFORM: parts[0], Extent.REPEATED: parts[-1]}
    return same(together[value.extent], of_all)


def same(one: torch.Tensor, other: torch.Tensor) -> bool:
    return one.shape == other.shape and torch.allclose(one, other, atol=1e-2, equal_nan=True)  # half has three digits
