"""How a loss adds up over the samples of a batch."""

from __future__ import annotations

import ast
from functools import reduce

from nbddp.analysis.domain import WHOLE, Extent, Obj, Value, join_extent, spread
from nbddp.analysis.machine import Machine

WEIGHTS = ("weight", "pos_weight")


def reduced(values: list[Value], keywords: dict[str, Value]) -> Extent:
    """By the `reduction` argument; the mean where it is not given."""
    if not any(v.varies for v in values):
        return reduce(join_extent, map(spread, values), Extent.UNIFORM)
    if any(spread(keywords[n]) not in (*WHOLE, Extent.SAMPLES) for n in WEIGHTS if n in keywords):
        return Extent.VARYING  # weights that a rank has counted in its share
    how = keywords["reduction"].const if "reduction" in keywords else "mean"
    if "size_average" in keywords and keywords["size_average"].const is False:
        how = "sum"
    if "reduce" in keywords and keywords["reduce"].const is False:
        how = "none"
    known = {"mean": Extent.MEAN, "sum": Extent.SUM, "batchmean": Extent.MEAN, "none": Extent.SAMPLES}
    return known.get(how, Extent.VARYING) if isinstance(how, str) else Extent.VARYING


def backward_of(call: ast.Call) -> ast.expr | None:
    """What a call of `backward` differentiates: `loss.backward()`, `torch.autograd.backward(loss)`."""
    if not isinstance(call.func, ast.Attribute):
        return call.args[0] if call.args else None
    plain = isinstance(call.func.value, ast.Attribute) and call.func.value.attr == "autograd"
    return call.args[0] if plain and call.args else call.func.value


def loss_extent(m: Machine, obj: Obj, values: list[Value]) -> Extent:
    keywords = {n: v for n in ("reduction", "size_average", "reduce", *WEIGHTS) if (v := m.get(obj, n)) is not None}
    return reduced(values, keywords)
