"""Batches that are drawn within an expression, `model(torch.randn(64, 8))`: they get a name before its statement."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from nbddp.analysis.library import MATRIX
from nbddp.analysis.reading import Reading
from nbddp.analysis.splitting.cuts import draws
from nbddp.analysis.splitting.regions import Region, run_by
from nbddp.analysis.syntax import walk
from nbddp.analysis.values import Split

SIMPLE = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr, ast.Return)
AT_TIMES = (ast.IfExp, ast.BoolOp, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def drawn_inside(region: Region, last: ast.AST, given: Sequence[ast.expr]) -> Split | None:
    """Of what the model is given first, in the block of the step; nothing where it has a name of its own."""
    plan, here = region.plan, region.at
    found = [g for g in given if _has_rows(plan, g) and plan.program.statement_of(g) is here and is_drawn(plan, g)]
    if not found or not isinstance(here, SIMPLE) or any(_is_met_at_times(plan, here, g) for g in found):
        return None
    step = plan.program.statement_of(last)
    return Split(here, step, plan.program.source(found[0]), inline=frozenset(found))


def named_before(plan: Reading, split: Split) -> list[ast.expr]:
    """Those that are drawn once, before the statement in which they stand: it asks for their length as well."""
    found = (n for n in split.inline if plan.program.statement_of(n) is split.at and is_drawn(plan, n))
    return sorted(found, key=plan.program.span)


def is_drawn(plan: Reading, node: ast.AST) -> bool:
    return any(draws(plan, n) for n in run_by(plan, node))


def _has_rows(plan: Reading, node: ast.expr) -> bool:
    """`X[torch.randint(0, 64, (16,))]`, `torch.randn(64, 8)`; no single sample."""
    if isinstance(node, ast.Subscript):
        return isinstance(node.slice, ast.Call) and is_drawn(plan, node.slice)
    shape = plan.facts.value(node).shape
    return (
        isinstance(node, ast.Call) and isinstance(shape, tuple) and len(shape) >= MATRIX and shape[0] not in (None, 1)
    )


def _is_met_at_times(plan: Reading, statement: ast.stmt, node: ast.expr) -> bool:
    """Only in a branch of the statement, in each turn of one, or behind something else that it draws."""
    for around in plan.program.ancestors(node):
        if around is statement:
            break
        if isinstance(around, AT_TIMES):
            return True
    inside = {*walk(node)}
    start = plan.program.span(node)[0]
    others = (n for n in walk(statement) if n not in inside and isinstance(n, ast.Call))
    return any(draws(plan, n) and plan.program.span(n)[0] < start for n in others)
