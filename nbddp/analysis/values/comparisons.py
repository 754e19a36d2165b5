"""Conditions that are comparisons of numbers: put together, they are the same on all ranks."""

from __future__ import annotations

import ast

from nbddp.analysis.values.domain import Extent, alike, spread
from nbddp.analysis.values.facts import Facts


def can_be_agreed(facts: Facts, test: ast.expr) -> bool:
    """`loss.item() < best`: the ranks have parts of the number that one process would have compared."""
    compared = operands(facts, test)
    return bool(compared) and all(spread(facts.value(o)) in (Extent.MEAN, Extent.SUM) for o in compared)


def operands(facts: Facts, test: ast.expr) -> list[ast.expr]:
    """The numbers of a share that a comparison is made of; empty where it is made of anything else."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return operands(facts, test.operand)
    if isinstance(test, ast.BoolOp):
        found = [operands(facts, v) for v in test.values if not alike(facts.value(v))]
        return [o for part in found for o in part] if all(found) else []
    if isinstance(test, ast.Compare) and not isinstance(test.ops[0], ast.In | ast.NotIn):
        return [o for o in [test.left, *test.comparators] if not alike(facts.value(o))]
    if isinstance(test, ast.Call) and (inner := _taken_out(test)) is not None:
        return operands(facts, inner)
    return []


def _taken_out(call: ast.Call) -> ast.expr | None:
    """`(loss < best).item()`, `bool(loss < best)`: the comparison itself."""
    match call:
        case ast.Call(func=ast.Attribute(value=inner, attr="item"), args=[], keywords=[]):
            return inner
        case ast.Call(func=ast.Name(id="bool"), args=[inner], keywords=[]):
            return inner
    return None
