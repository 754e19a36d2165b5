"""Numbers of samples beside a mean: each rank counts an even share, for the mean has been weighed."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from nbddp.analysis.library import Effect, entry_of
from nbddp.analysis.reading import Reading
from nbddp.analysis.splitting.means.born import is_mean, runs
from nbddp.analysis.splitting.regions import run_by
from nbddp.analysis.syntax import increment, walk
from nbddp.analysis.values import Extent

BY_MEAN = (ast.BinOp, ast.Call)
COUNTING = (ast.BinOp, ast.Call, ast.Return, ast.AugAssign, ast.Assign)


def counts_of(
    plan: Reading, node: ast.BinOp | ast.Call | ast.Return | ast.AugAssign | ast.Assign
) -> Iterator[ast.expr]:
    """`loss.item() * len(xb)`, `meter.update(loss.item(), len(xb))`: times an even share's samples it adds up.

    `return loss.item(), len(xb)`: whoever calls it multiplies them. `meter.update(correct, len(xb))`, `self.seen +=
    len(xb)`: what divides by it does so on each rank.
    """
    if isinstance(node, ast.AugAssign | ast.Assign):
        if (added := increment(node)) and isinstance(added.place, ast.Attribute) and plan.facts.value(added.value).size:
            yield added.value
        return
    if isinstance(node, ast.Return):
        parts, multiplies = [*getattr(node.value, "elts", ())], True
    elif isinstance(node, ast.BinOp):
        parts, multiplies = [node.left, node.right], isinstance(node.op, ast.Mult)
    else:  # not `"{}: {}".format(step * len(xb), loss)`, which only reads them
        parts = [*node.args, *(k.value for k in node.keywords)]
        multiplies = entry_of(node, plan.flow.imports).effect is not Effect.READS
    summed = runs(plan, node) and any(_is_summed(plan, part) for part in parts)
    if multiplies and (summed or any(is_mean(plan, part) for part in parts)):
        yield from (part for part in parts if plan.facts.value(part).size and _is_of_this_batch(plan, part))


def _is_of_this_batch(plan: Reading, count: ast.expr) -> bool:
    """Not `k` of `for loss, k in rows`, nor `row[1]`: of a batch before."""
    match count:
        case ast.Subscript(value=base):
            return bool(plan.facts.value(base).of("shape"))
        case ast.Name():
            turns = (ast.For, ast.AsyncFor, ast.comprehension)
            return not any(isinstance(one.by, turns) for one in plan.bindings.of(count))
    return True


def counted_in(plan: Reading, call: ast.AST, *, weighs: bool) -> Iterator[ast.expr]:
    """`meter.update(loss.item(), len(x))` in what a call runs.

    Where it weighs none itself, what it is given has been: `self.total += loss.item() * len(batch)`.
    """
    inside = {*run_by(plan, call)} - {*walk(call)}
    found = {node: [*counts_of(plan, node)] for node in inside if isinstance(node, COUNTING)}
    by_mean = {plan.program.function_of(n) for n, counts in found.items() if counts and isinstance(n, BY_MEAN)}
    divisors = {n.attr for one in plan.nodes() for n in divided_by(one)}
    for node, counts in found.items():
        beside = not isinstance(node, ast.Return) and plan.program.function_of(node) in by_mean
        kept = increment(node)
        if weighs or beside or (kept is not None and getattr(kept.place, "attr", "") in divisors):
            yield from counts


def divided_by(node: ast.AST) -> Iterator[ast.Attribute]:
    """`self.n` of `self.hits / self.n`, by which each rank divides what it has added up."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        yield from (n for n in walk(node.right) if isinstance(n, ast.Attribute))


def first_of(plan: Reading, counts: list[ast.expr]) -> list[ast.expr]:
    """Where each is counted, and not once more where it is handed on: `self.sum += value * n`."""
    return [n for n in counts if not comes_from(plan, n, counts)]


def comes_from(plan: Reading, count: ast.expr, others: Sequence[ast.expr]) -> bool:
    return any(one is not count and one in others for one in plan.bindings.made_of(count))


def _is_summed(plan: Reading, node: ast.expr) -> bool:
    value = plan.facts.value(node)
    return value.extent is Extent.SUM and value.number and not (value.size or value.items)
