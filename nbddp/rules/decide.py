"""What it does
    Makes all ranks decide alike: a condition on a number of one rank's share is asked of the number of all ranks.

Why DDP needs it
    One rank that leaves the loop, or steps where the others do not, leaves the others waiting for ever.

Before
    if loss.item() < 0.01:
        break

After
    if mean_over_ranks(loss.item()) < 0.01:
        break

Declines
    Conditions that only choose what a rank computes from its own samples.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from nbddp.analysis.domain import Extent, alike, spread
from nbddp.analysis.edit import Edit, wrap
from nbddp.analysis.plan import Plan
from nbddp.diagnostics import Diagnostic

NAME = "decide"
PARTS = {Extent.MEAN: "mean_over_ranks", Extent.SUM: "sum_over_ranks"}


def rewrite(plan: Plan) -> Iterator[Edit | Diagnostic]:
    for node in plan.nodes():
        if isinstance(node, ast.If | ast.While) and _steers(plan, node):
            if not alike(plan.facts.value(node.test)):
                yield from _agree(plan, node.test)


def _steers(plan: Plan, node: ast.If | ast.While) -> bool:
    """Does the condition decide what all ranks must do together?"""
    if isinstance(node, ast.While):
        return True
    inside = [n for part in (*node.body, *node.orelse) for n in ast.walk(part)]
    if any(isinstance(n, ast.Break | ast.Return | ast.Raise) for n in inside):
        return _leaves_training(plan, node)
    calls = [plan.facts.calls[n] for n in inside if isinstance(n, ast.Call) and n in plan.facts.calls]
    return any(c.optimizers or c.node in plan.facts.backward or _trains(plan, c.node) for c in calls)


def _trains(plan: Plan, node: ast.Call) -> bool:
    fact = plan.facts.calls[node]
    models = {m.obj for m in plan.roles.models}
    return fact.grad and not fact.in_forward and bool(fact.called & models)


def _leaves_training(plan: Plan, node: ast.AST) -> bool:
    """Is the loop (or function) that it leaves one of the training, not one over the samples of a batch?"""
    for around in plan.program.ancestors(node):
        if isinstance(around, ast.For | ast.AsyncFor | ast.While):
            fact = plan.facts.loops.get(around)
            return fact is not None and (fact.backward or bool(fact.loaders))
        if isinstance(around, ast.FunctionDef | ast.AsyncFunctionDef):
            return around in plan.facts.reached
    return True


def _agree(plan: Plan, test: ast.expr) -> Iterator[Edit | Diagnostic]:
    operands = _operands(plan, test)
    extents = [spread(plan.facts.value(o)) for o in operands]
    if operands and all(e in PARTS for e in extents):
        for operand, extent in zip(operands, extents, strict=True):
            part = PARTS[extent]
            yield from wrap(plan.program, NAME, operand, f"{plan.naming(part)}(", ")", (part,))
        return
    yield from wrap(plan.program, NAME, test, f"{plan.naming('any_rank')}(", ")", ("any_rank",))
    yield plan.program.diagnose(
        NAME, "warning", test, "this condition differs between ranks; it now holds when it holds on any rank",
        why="ranks that decide differently wait for each other for ever",
    )  # fmt: skip


def _operands(plan: Plan, test: ast.expr) -> list[ast.expr]:
    """The numbers of a share that a comparison is made of; empty where it is made of anything else."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _operands(plan, test.operand)
    if isinstance(test, ast.BoolOp):
        parts = [v for v in test.values if not alike(plan.facts.value(v))]
        return [o for v in parts for o in _operands(plan, v)]
    if isinstance(test, ast.Compare):
        return [o for o in [test.left, *test.comparators] if not alike(plan.facts.value(o))]
    return []
