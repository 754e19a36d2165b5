"""Losses of unlike parts, `sum + mean`: a sum times the number of ranks adds up like a mean.

And losses that are divided by a sum, `(losses * mask).sum() / mask.sum()`: by that of all ranks the sum stays a sum.
And those that make more of means than a mean, `mse.sqrt()`: of the means of all ranks it is that of one process.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace

from nbddp.analysis.reading import Reading
from nbddp.analysis.values import UNLIKE, WHOLE, Assumptions, Extent, Value, alike, backward_of, spread


def losses_scaled(plan: Reading) -> Assumptions:
    """Sums in losses that are to be scaled, and divisors that are to be added up: tried out, as each is to be a mean.

    Where a loss is divided by a sum over a share: by that of all ranks, where that makes a sum of it.
    """
    plan = _with_sums_scaled(plan)
    assumed = _sums_divided(plan)
    return assumed if assumed is not plan.assumed else _averaged(plan)


def _averaged(plan: Reading) -> Assumptions:
    """All that varying losses are made of, where each of it is a mean: then it is enough that gradients are averaged.

    Of a part alone it would not do: of its product with what is the rank's own, the average of gradients is another.
    """
    waiting = [loss for loss in _trained(plan) if spread(plan.facts.value(loss)) is Extent.VARYING]
    made = [*_made_of(plan, waiting)]
    parts = frozenset(part for part in made if isinstance(part, ast.expr) and _is_average(plan, part))
    if not parts or not parts.issuperset(made):
        return plan.assumed
    found = plan.under(replace(plan.assumed, averaged=plan.assumed.averaged | parts))
    whole = all(spread(found.facts.value(loss)) in WHOLE for loss in waiting)
    return found.assumed if whole and not found.facts.divided_apart & parts else plan.assumed


def _made_of(plan: Reading, losses: Sequence[ast.expr]) -> Iterator[ast.AST | None]:
    """The means that varying values are made of, and whatever else is in them; None for what is not known."""
    seen, waiting = set[ast.AST](), list[ast.AST | None](losses)
    while waiting:
        node = waiting.pop()
        if node is not None and (node in seen or alike(plan.facts.value(node))):
            continue
        varying = node is not None and spread(plan.facts.value(node)) is Extent.VARYING
        parts = _parts(plan, node) if varying else []
        if not parts:
            yield node
        if node is not None:
            seen.add(node)
        waiting += parts


def _parts(plan: Reading, node: ast.AST | None) -> list[ast.AST | None]:
    match node:
        case ast.Name():
            return plan.bindings.given(node)
        case ast.Call(func=func):
            if node in plan.facts.calls and plan.facts.calls[node].bodies:
                return [*plan.bindings.below(node)]
            return [*([func.value] if isinstance(func, ast.Attribute) else []), *node.args]
        case ast.BinOp(left=left, right=right):
            return [left, right]
        case ast.UnaryOp(operand=operand):
            return [operand]
    return []


def _is_average(plan: Reading, node: ast.expr) -> bool:
    """A tensor, through which a gradient may go."""
    value = plan.facts.value(node)
    return spread(value) is Extent.MEAN and not (value.number or value.items)


def _sums_divided(plan: Reading) -> Assumptions:
    found, sums = plan, frozenset[ast.expr]()
    while not adds_up(found) and (more := divisors(found) - sums):
        sums |= more
        found = _divided_by(plan, sums)
    if not sums or not adds_up(found):
        return plan.assumed
    for one in sorted(sums, key=plan.program.span):
        fewer = _divided_by(plan, found.assumed.summed - {one})
        found = fewer if adds_up(fewer) else found  # it is no loss that is divided by it
    return found.assumed


def _divided_by(plan: Reading, sums: frozenset[ast.expr]) -> Reading:
    return _with_sums_scaled(plan.under(replace(plan.assumed, summed=sums)))


def _with_sums_scaled(plan: Reading) -> Reading:
    """Where a loss adds a sum to something else: as it is where that does not make a mean of it."""
    found = plan
    while not (terms := unlike_terms(found)) <= found.assumed.scaled:
        found = found.under(replace(found.assumed, scaled=found.assumed.scaled | terms))
    return found if add_up(found) else plan


def unlike_terms(plan: Reading) -> frozenset[ast.AST]:
    """Sums in losses that hold something else as well."""
    return frozenset(o.node for loss in _losses(plan) for o in loss.of(UNLIKE) if spread(loss) is Extent.VARYING)


def add_up(plan: Reading) -> bool:
    """Is each loss a mean over the share, now that such sums are scaled, and was each of them a sum at every time?"""
    return not plan.facts.not_sums and all(
        spread(loss) is Extent.MEAN for loss in _losses(plan) if loss.of(UNLIKE) or spread(loss) is Extent.VARYING
    )


def adds_up(plan: Reading) -> bool:
    """Is it known what each loss is, and do all ranks come to what is added up for that?"""
    apart = plan.facts.not_sums | (plan.facts.divided_apart & plan.assumed.summed)
    return not apart and all(spread(loss) is not Extent.VARYING for loss in _losses(plan))


def divisors(plan: Reading) -> frozenset[ast.expr]:
    """Sums over the samples of a share by which something else of it is divided, where all ranks come by."""
    found = [list(_sums(plan, d)) for d in plan.facts.divided - plan.facts.divided_apart]
    return frozenset(n for sums in found if all(_is_total(plan, n) for n in sums) for n in sums)


def _is_total(plan: Reading, node: ast.expr) -> bool:
    """One through which no gradient goes, so that it may be added up."""
    return spread(plan.facts.value(node)) is Extent.SUM and _of_data(plan, node)


def _sums(plan: Reading, node: ast.expr, seen: set[ast.AST] | None = None) -> Iterator[ast.expr]:
    """The sums in `mask.sum().clamp(min=1)`, and whatever else differs between ranks."""
    value, seen = plan.facts.value(node), set() if seen is None else seen
    if not value.varies or node in seen:
        return
    seen.add(node)
    parts: list[ast.expr] = [c for c in ast.iter_child_nodes(node) if isinstance(c, ast.expr)]
    if isinstance(node, ast.Name):
        parts = [m for m in plan.bindings.given(node) if isinstance(m, ast.expr)]
    elif isinstance(node, ast.Call):
        parts = [*([node.func.value] if isinstance(node.func, ast.Attribute) else []), *node.args]
    if spread(value) is Extent.SUM or not parts or not isinstance(node, ast.BinOp | ast.Call | ast.Name):
        yield node
        return
    for part in parts:
        yield from _sums(plan, part, seen)


def _of_data(plan: Reading, node: ast.AST | None, seen: set[ast.AST] | None = None) -> bool:
    """Made of batches and numbers alone: not with parameters that are trained."""
    seen = set() if seen is None else seen
    if node is None or node in seen:
        return node is not None  # what is said of it there is said of all
    seen.add(node)
    match node:
        case ast.Constant() | ast.Compare():
            return True
        case ast.Name():
            made = plan.bindings.given(node)
            return bool(made) and all(_of_data(plan, m, seen) for m in made)
        case ast.Call(func=func):
            fact = plan.facts.calls.get(node)
            called = plan.facts.value(func).objs - plan.facts.value(func).of("library")
            receiver = [func.value] if isinstance(func, ast.Attribute) and not (fact and fact.names) else []
            given = [*receiver, *node.args, *(k.value for k in node.keywords)]
            return not (called or fact is None or fact.bodies) and all(_of_data(plan, g, seen) for g in given)
        case ast.BinOp() | ast.UnaryOp() | ast.BoolOp() | ast.Subscript() | ast.Attribute() | ast.Tuple() | ast.Slice():
            return all(_of_data(plan, c, seen) for c in ast.iter_child_nodes(node) if isinstance(c, ast.expr))
        case ast.For() | ast.comprehension():
            return bool(plan.facts.loops[node].loaders)
    return False


def _losses(plan: Reading) -> Iterator[Value]:
    return (plan.facts.value(loss) for loss in _trained(plan))


def _trained(plan: Reading) -> Iterator[ast.expr]:
    for call in plan.facts.backward:
        loss = backward_of(call)
        if loss is not None and plan.facts.calls[call].loops:
            yield loss
