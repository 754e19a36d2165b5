"""What an operator makes of two values."""

from __future__ import annotations

import ast
from dataclasses import replace

from nbddp.analysis.evaluator.classes import by_operator
from nbddp.analysis.evaluator.writes import put_all, put_element
from nbddp.analysis.values import (
    Extent,
    Machine,
    Value,
    alike,
    as_mean,
    binary,
    domain,
    note_divisor,
    note_statistic,
    spread,
    tell_unlike,
)


def computed(m: Machine, node: ast.BinOp, left: Value, right: Value) -> Value:
    """By the operator of the node."""
    note_statistic(m, node, left, right)
    if node in m.assumed.shares:
        return Value(extent=Extent.SUM, sources=frozenset[ast.AST]({node}), equal=True, size=True, number=True)
    if (own := by_operator(m, node.op, left, right)) is not None:
        return own
    if isinstance(node.op, ast.Mult) and left.of("list") and right.varies:  # `[label] * len(x)`
        repeated = m.elements(left).with_extent(Extent.SAMPLES if right.size else Extent.VARYING)
        return _listed(m, node, repeated)
    if isinstance(node.op, ast.BitOr) and left.of("dict"):
        return put_all(m, put_all(m, m.make("dict", node), left), right)
    if isinstance(node.op, ast.Add | ast.Sub):
        if m.alone(left) and _fills_up(m, node.right):
            return left  # `words + [0] * (longest - len(words))`: the places besides are no part of the sample
        left, right = as_mean(m, node.left, left), as_mean(m, node.right, right)
        found = tell_unlike(m, binary(left, right, node.op), (node.left, left), (node.right, right))
        return with_contents(m, found, left, right)
    if isinstance(node.op, ast.Div) and not (alike(right) and spread(left) in (Extent.SUM, Extent.SAMPLES)):
        note_divisor(m, node.right, left)
    result = with_contents(m, binary(left, right, node.op), left, right)
    if (left.sources or right.sources) and isinstance(node.op, ast.Mult | ast.Div | ast.FloorDiv):
        return replace(result, sources=frozenset[ast.AST]({node}))  # a number of its own, computed from literals
    return result


def _fills_up(m: Machine, node: ast.expr) -> bool:
    """`[pad] * count`, the same ones however many."""
    match node:
        case ast.BinOp(left=ast.List(elts=same), op=ast.Mult()):
            return not any(m.facts.value(one).varies for one in same)
    return False


def _listed(m: Machine, node: ast.expr, element: Value) -> Value:
    made = m.make("list", node)
    put_element(m, made, element)
    return made


def with_contents(m: Machine, found: Value, *operands: Value) -> Value:
    """`seen | {label}`, `counts - others`: what sets and counters hold goes into what is made of them."""
    holders = [v for v in operands if v.of("list", "dict") and m.held(v) not in domain.WHOLE]
    return found.with_extent(Extent.VARYING) if holders and m.held(found) in domain.WHOLE else found
