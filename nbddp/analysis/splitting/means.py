"""Means over a rank's samples: each counts by how many of the batch they are."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from nbddp.analysis.reading import Reading
from nbddp.analysis.splitting.regions import region_at, stored
from nbddp.analysis.splitting.roots import definitions
from nbddp.analysis.syntax import walk
from nbddp.analysis.values import Extent, Split, backward_of, spread


@dataclass(frozen=True, eq=False)
class Means:
    """Of one split step."""

    born: tuple[ast.expr, ...]  # expressions that are a mean, and whose parts are none
    unpacked: tuple[tuple[ast.stmt, str], ...]  # names that get one out of a tuple
    counts: tuple[ast.expr, ...]  # numbers of samples that a mean is multiplied by


def means_of(plan: Reading, split: Split) -> Means:
    born: list[ast.expr] = []
    unpacked: list[tuple[ast.stmt, str]] = []
    counts: list[ast.expr] = []
    for statement in region_at(plan, split.at).rest:
        for node in walk(statement):
            if isinstance(node, ast.Assign):
                unpacked += [(node, name) for name in _out_of_a_tuple(plan, node)]
            elif isinstance(node, ast.BinOp | ast.Call):
                counts += _counts(plan, node)
            if _is_born(plan, node):
                assert isinstance(node, ast.expr)
                born.append(node)
    return Means(tuple(born), tuple(unpacked), tuple(counts))


def _is_mean(plan: Reading, node: ast.AST) -> bool:
    """Also a sum that is multiplied by the number of ranks: it adds up to that of the batch, however it is split."""
    if node in plan.assumed.scaled or node in plan.assumed.averaged:
        return True
    value = plan.facts.value(node)
    return isinstance(node, ast.expr) and value.items is None and value.extent is Extent.MEAN


def _is_born(plan: Reading, node: ast.AST) -> bool:
    """It is one, and is made of none; what is read from a name was one already."""
    if node in plan.assumed.scaled or not _is_mean(plan, node):
        return False
    if not isinstance(node, ast.Call | ast.BinOp | ast.Attribute | ast.Subscript):
        return False
    if isinstance(node, ast.Attribute | ast.Subscript):
        return _is_taken_out(plan, node)
    inner = [*_inner(node)]
    of_samples = any(spread(plan.facts.value(part)) in (Extent.SAMPLES, Extent.SUM) for part in inner)
    return (of_samples or _runs(plan, node)) and not any(_is_mean(plan, part) for part in inner)


def _runs(plan: Reading, node: ast.AST) -> bool:
    """A function of the notebook, which may take the samples from elsewhere."""
    fact = plan.facts.calls.get(node) if isinstance(node, ast.Call) else None
    return fact is not None and bool(fact.bodies)


def _is_taken_out(plan: Reading, node: ast.Attribute | ast.Subscript) -> bool:
    """`output.loss`, `losses["ce"]`: of what a call has just given; no field and no history that was set before."""
    base = node.value
    if isinstance(node, ast.Attribute) and _is_mean(plan, base):
        return False  # `loss.backward`, `loss.data`: of a mean that is weighed already
    if not isinstance(base, ast.Name):
        return spread(plan.facts.value(base)) in (Extent.SAMPLES, Extent.VARYING)
    scope = plan.program.function_of(node) or plan.program.tree
    made = [n.value for n in walk(scope) if isinstance(n, ast.Assign) and base.id in stored(n)]
    calls = [n for n in made if isinstance(n, ast.Call) and (_runs(plan, n) or plan.facts.value(n.func).of("model"))]
    return bool(made) and calls == made and not any(_is_mean(plan, part) for n in made for part in _inner(n))


def uncounted(plan: Reading, split: Split) -> ast.expr | None:
    """A mean in a loss of the step of which it is not seen where it comes about, so that it cannot be weighed."""
    region, means = region_at(plan, split.at), means_of(plan, split)
    known = {*means.born, *plan.assumed.scaled}
    named = {name for _, name in means.unpacked}
    inside = {n for s in region.rest for n in walk(s)}
    for call in sorted(plan.facts.backward & inside, key=plan.program.span):
        waiting, seen = [backward_of(call), *plan.assumed.averaged], set[ast.AST]()
        while waiting:
            node = waiting.pop()
            if node is None or node in seen or node in known or not _is_mean(plan, node):
                continue
            seen.add(node)
            made = list(definitions(region, node)) if isinstance(node, ast.Name) and node.id not in named else []
            inner = [n for n in ast.iter_child_nodes(node) if isinstance(n, ast.expr)]
            below = [n for n in (*inner, *made) if _holds_mean(plan, n)]
            if not below and not (isinstance(node, ast.Name) and node.id in named):
                return node
            waiting += below
    return None


def _holds_mean(plan: Reading, node: ast.expr) -> bool:
    return any(_is_mean(plan, part) for part in (node, *_inner(node)))


def _inner(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        yield child
        yield from _inner(child)


def _out_of_a_tuple(plan: Reading, node: ast.Assign) -> Iterator[str]:
    items = plan.facts.value(node.value).items
    target = node.targets[0]
    if items is None or not isinstance(node.value, ast.Call) or not isinstance(target, ast.Tuple):
        return
    for name, value in zip(target.elts, items, strict=False):
        if isinstance(name, ast.Name) and spread(value) is Extent.MEAN:
            yield name.id


def _counts(plan: Reading, node: ast.BinOp | ast.Call) -> Iterator[ast.expr]:
    """`loss.item() * len(xb)`, `meter.update(loss.item(), len(xb))`: times an even share's samples it adds up."""
    parts = [node.left, node.right] if isinstance(node, ast.BinOp) else [*node.args, *(k.value for k in node.keywords)]
    multiplies = isinstance(node, ast.Call) or isinstance(node.op, ast.Mult)
    if multiplies and any(_is_mean(plan, part) for part in parts):
        yield from (part for part in parts if plan.facts.value(part).size)
