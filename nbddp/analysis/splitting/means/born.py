"""Where a mean comes about, of what none is: a mean of means is none."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from collections.abc import Set as AbstractSet

from nbddp.analysis.reading import Reading
from nbddp.analysis.splitting.regions import run_by, stored
from nbddp.analysis.syntax import walk
from nbddp.analysis.values import ITEMS, WHOLE, Extent, contents, spread


def is_born(plan: Reading, node: ast.AST) -> bool:
    """It is one, and is made of none; what is read from a name was one already."""
    if node in plan.assumed.scaled or not is_mean(plan, node) or is_average(plan, node):
        return False
    if not isinstance(node, ast.Call | ast.BinOp | ast.Attribute | ast.Subscript):
        return False
    if isinstance(node, ast.Attribute | ast.Subscript):
        return _is_taken_out(plan, node)
    inner = [part for part in parts_of(node) if not _holds_what_is_read(plan, part)]
    of_samples = any(spread(plan.facts.value(part)) not in (*WHOLE, Extent.MEAN) for part in inner)
    own = runs(plan, node) and not _is_read_off(plan, node)
    return (own or (of_samples and not runs(plan, node))) and not any(is_of_means(plan, part) for part in inner)


def _holds_what_is_read(plan: Reading, node: ast.AST) -> bool:
    """`output` of `output["scores"]`, which are of samples, whatever means it holds beside them."""
    parent = plan.program.parents.get(node)
    if not isinstance(parent, ast.Subscript | ast.Attribute) or parent.value is not node:
        return False
    known = isinstance(parent, ast.Attribute) or isinstance(parent.slice, ast.Constant)
    return known and spread(plan.facts.value(parent)) is Extent.SAMPLES and not is_mean(plan, node)


def is_mean(plan: Reading, node: ast.AST) -> bool:
    """Also a sum that is multiplied by the number of ranks: it adds up to that of the batch, however it is split."""
    if node in plan.assumed.scaled or node in plan.assumed.averaged:
        return True
    value = plan.facts.value(node)
    return isinstance(node, ast.expr) and value.items is None and value.extent is Extent.MEAN


def is_average(plan: Reading, node: ast.AST) -> bool:
    """`self.sum / self.count`: a number of what has been weighed, over even shares; no loss."""
    match node:
        case ast.BinOp(op=ast.Div(), right=ast.Attribute() as count) if plan.facts.value(node).number:
            over = plan.facts.value(count)
            return over.extent is Extent.SUM and over.number and not over.size
    return False


def _is_read_off(plan: Reading, call: ast.AST) -> bool:
    """`running = meter.add(hits, len(x))`: what the meter says of all that it has seen."""
    averages = any(is_average(plan, n) for n in run_by(plan, call))
    return averages and not means_in(plan, call)


def means_in(plan: Reading, call: ast.AST) -> set[ast.expr]:
    """Those that come about in the functions that a call of the step runs; of `parts["a"]` in what made the parts."""
    base = call.value if isinstance(call, ast.Attribute | ast.Subscript) else call
    made = (*plan.bindings.made_by(base), *plan.bindings.below(base)) if isinstance(base, ast.Name) else ()
    calls = [call, *made]
    inside = {n for one in calls for n in run_by(plan, one)} - {*walk(call)}
    return {n for n in inside if isinstance(n, ast.expr) and is_born(plan, n) and not runs(plan, n)}


def scales(plan: Reading, call: ast.AST) -> bool:
    """Do functions that it runs add a sum to a mean? Such a sum adds up as it is, and only the mean is weighed."""
    return not plan.assumed.scaled.isdisjoint({*run_by(plan, call)} - {*walk(call)})


def runs(plan: Reading, node: ast.AST, *, within: AbstractSet[ast.AST] | None = None) -> bool:
    """A function of the notebook, which may take the samples from elsewhere; a closure within, which has weighed."""
    fact = plan.facts.calls.get(node) if isinstance(node, ast.Call) else None
    return fact is not None and bool(fact.bodies) and (within is None or fact.bodies <= within)


def holds_mean(plan: Reading, node: ast.expr) -> bool:
    return any(is_of_means(plan, part) for part in (node, *parts_of(node)))


def is_of_means(plan: Reading, node: ast.AST) -> bool:
    """Also a list or a dict of losses; not one of numbers that were written down."""
    held = contents(plan.facts, plan.facts.value(node), ITEMS)
    return is_mean(plan, node) or any(v.extent is Extent.MEAN and not (v.number or v.items) for v in held)


def _is_taken_out(plan: Reading, node: ast.Attribute | ast.Subscript) -> bool:
    """`output.loss`, `losses["ce"]`: of what a call has just given; no field and no history that was set before."""
    base = node.value
    if isinstance(node, ast.Attribute) and is_mean(plan, base):
        return False  # `loss.backward`, `loss.data`: of a mean that is weighed already
    if not isinstance(base, ast.Name):
        return spread(plan.facts.value(base)) in (Extent.SAMPLES, Extent.VARYING)
    scope = plan.program.function_of(node) or plan.program.tree
    made = [n.value for n in walk(scope) if isinstance(n, ast.Assign) and base.id in stored(n)]
    calls = [n for n in made if isinstance(n, ast.Call) and (runs(plan, n) or plan.facts.value(n.func).of("model"))]
    loop = next((a for a in plan.program.ancestors(node) if isinstance(a, ast.For | ast.While)), None)
    if loop is not None and any(loop not in plan.program.ancestors(n) for n in made):
        return False  # a meter from before the loop, which holds means that were weighed
    return bool(made) and calls == made and not any(is_of_means(plan, part) for n in made for part in parts_of(n))


def parts_of(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        yield child
        yield from parts_of(child)
