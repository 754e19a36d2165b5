"""What a comparison comes to."""

from __future__ import annotations

import ast
from dataclasses import replace
from itertools import pairwise

from nbddp.analysis.evaluator.classes import by_comparison
from nbddp.analysis.evaluator.iteration import may_be_no_batch
from nbddp.analysis.values import (
    ANYTHING,
    Extent,
    Machine,
    Obj,
    Value,
    domain,
    elementwise,
    holds_own,
    is_uneven,
    join_all,
    note_statistic,
    spread,
)

# What says of which samples something is, and where; not by what they were weighted.
WHERE = (*(m for m in domain.OF_EACH if m not in (domain.RATED, domain.WEIGHTED, domain.ONE)),
         domain.TURNED, domain.FLAT, domain.LINE)  # fmt: skip


def compared(m: Machine, node: ast.Compare, parts: list[Value]) -> Value:
    """What is compared, from the left."""
    note_statistic(m, node, *parts[:2])
    own = [by_comparison(m, op, *pair) for op, pair in zip(node.ops, pairwise(parts), strict=True)]
    if known_own := [value for value in own if value is not None]:
        return join_all(known_own)
    if isinstance(node.ops[0], ast.Is | ast.IsNot) and parts[1].const is domain.Literal.NONE:
        if parts[0].of(domain.ONE) and parts[0].rank is None:  # a data set gives None for what cannot be read
            return Value(parts[0].of(domain.ONE), spread(parts[0]))
        if may_be_no_batch(m, node.left):
            return ANYTHING
    if len(parts) == 2 and (known := _known(node.ops[0], *parts)) is not None:
        return Value(const=known)
    if all(isinstance(o, ast.Is | ast.IsNot) or _asks_for_none(o, p) for o, p in zip(node.ops, parts[1:], strict=True)):
        return ANYTHING
    if any(isinstance(o, ast.In | ast.NotIn) and _differ(m, p) for o, p in zip(node.ops, parts[1:], strict=True)):
        return Value(extent=Extent.VARYING)
    found = Value(extent=elementwise(parts), equal=all(domain.alike(p) for p in parts))
    if any(p.of("shape") and p.varies for p in parts):  # `x.shape == (64, 3)`, and `x.shape == y.shape` on all ranks
        return Value(extent=Extent.VARYING, equal=all(p.of("shape") for p in parts))
    if Extent.SAMPLES not in map(spread, parts):
        return found
    marks = frozenset[Obj]().union(*(p.of(*WHERE) for p in parts))
    return domain.marked(replace(found, objs=marks), domain.MASK)


def _differ(m: Machine, choices: Value) -> bool:
    """A list with what a rank has put in of its own, or a dict with keys that are: what they stand for is no matter."""
    listed = Value(choices.of("list"))
    return (bool(listed.objs) and holds_own(m.facts, listed)) or is_uneven(m.facts, Value(choices.of("dict")))


def _known(op: ast.cmpop, left: Value, right: Value) -> bool | None:
    """What a comparison of literals comes to, and one with None of something known."""
    if _asks_for_none(op, right):
        if left.const is domain.Literal.NONE and not left.objs:
            return isinstance(op, ast.Is | ast.Eq)
        there = left.of(*domain.KNOWN) or spread(left) in (Extent.SAMPLES, Extent.MEAN, Extent.SUM)
        return isinstance(op, ast.IsNot | ast.NotEq) if left.const is None and there else None
    if isinstance(op, ast.In | ast.NotIn):
        choices = [i.const for i in right.items or ()]
        known = isinstance(left.const, str | int) and choices and all(isinstance(c, str | int) for c in choices)
        return ((left.const in choices) == isinstance(op, ast.In)) if known else None
    if isinstance(op, ast.Eq | ast.NotEq) and isinstance(left.const, str | int) and isinstance(right.const, str | int):
        return (left.const == right.const) == isinstance(op, ast.Eq)
    return None


def _asks_for_none(op: ast.cmpop, right: Value) -> bool:
    """`targets is None`, and `targets == None`, which no tensor is either."""
    return isinstance(op, ast.Is | ast.IsNot | ast.Eq | ast.NotEq) and right.const is domain.Literal.NONE
