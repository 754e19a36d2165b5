"""Losses of unlike parts, `sum + mean`: a sum times the number of ranks adds up like a mean."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from nbddp.analysis.domain import UNLIKE, WHOLE, Extent, Obj, Value, spread
from nbddp.analysis.losses import backward_of
from nbddp.analysis.machine import Machine

if TYPE_CHECKING:
    from nbddp.analysis.plan import Plan


def as_mean(m: Machine, node: ast.expr, value: Value) -> Value:
    """What the rule `loss` multiplies by the number of ranks."""
    if node not in m.scaled:
        return value
    if spread(value) is not Extent.SUM or m.deals():  # of an evaluation the ranks have whole batches
        m.facts.not_sums.add(node)
        return value
    return replace(value, extent=Extent.MEAN, items=None, equal=False, number=False)


def tell_unlike(m: Machine, result: Value, *terms: tuple[ast.expr, Value]) -> Value:
    """Notes in what comes of `a + b` which of the two is a sum where the other one is none."""
    if result.extent is not Extent.VARYING:
        return result
    (_, first), (_, second) = terms
    sums = [node for node, value in terms if spread(value) is Extent.SUM and node in m.program.parents]
    known = all(spread(v) in (Extent.SUM, Extent.MEAN, *WHOLE) for v in (first, second))
    if len(sums) != 1 or not known:
        return result
    return replace(result, objs=result.objs | {Obj(UNLIKE, sums[0])})


def unlike_terms(plan: Plan) -> frozenset[ast.AST]:
    """Sums in losses that hold something else as well."""
    return frozenset(o.node for loss in _losses(plan) for o in loss.of(UNLIKE) if spread(loss) is Extent.VARYING)


def add_up(plan: Plan) -> bool:
    """Is each loss a mean over the share, now that such sums are scaled, and was each of them a sum at every time?"""
    return not plan.facts.not_sums and all(
        spread(loss) is Extent.MEAN for loss in _losses(plan) if loss.of(UNLIKE) or spread(loss) is Extent.VARYING
    )


def _losses(plan: Plan) -> Iterator[Value]:
    for call in plan.facts.backward:
        loss = backward_of(call)
        if loss is not None and plan.facts.calls[call].loops:
            yield plan.facts.value(loss)
