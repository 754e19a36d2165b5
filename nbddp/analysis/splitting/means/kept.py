"""Means that a function of the step keeps, or gives in one thing: where they are read later is not followed."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet

from nbddp.analysis.combining import lets_out
from nbddp.analysis.library import Effect, entry_of
from nbddp.analysis.reading import Reading
from nbddp.analysis.slicing import local_names
from nbddp.analysis.splitting.means.born import holds_mean, runs
from nbddp.analysis.splitting.means.counted import counts_of
from nbddp.analysis.splitting.regions import run_by
from nbddp.analysis.syntax import walk
from nbddp.analysis.values import OPENED, Extent, backward_of, contents


def keeps_means(plan: Reading, call: ast.expr) -> bool:
    """`self.last = loss.item()`, `loss.backward()`, `print(loss)` in what it runs, besides what it gives back."""
    inside = {*run_by(plan, call)} - {*walk(call)} if runs(plan, call) else set()
    if not plan.facts.backward.isdisjoint(inside) or (inside and _gives_held(plan, call)):
        return True
    if any(True for n in inside if isinstance(n, ast.BinOp) for _ in counts_of(plan, n)):
        return True  # `loss.item() * len(x)`: of no samples it is no number
    read = {n.attr for n in plan.nodes() if isinstance(n, ast.Attribute) and n not in inside}
    for node in inside:
        if isinstance(node, ast.Call) and node in plan.facts.calls and lets_out(plan.facts.calls[node]):
            if any(holds_mean(plan, one) for one in node.args):
                return True
        for base, given in _stored(plan, node):
            out = base.attr in read if isinstance(base, ast.Attribute) else not _is_made_in(plan, base, inside)
            if out and any(holds_mean(plan, one) for one in given):
                return True
    return False


def learned_from(plan: Reading, call: ast.AST) -> set[ast.AST]:
    """What goes into the losses that it itself goes back from."""
    losses = (backward_of(one) for one in plan.facts.backward & ({*run_by(plan, call)} - {*walk(call)}))
    return {n for loss in losses if loss is not None for n in plan.bindings.made_of(loss)}


def reads_kept(plan: Reading, node: ast.expr, weighed: AbstractSet[ast.AST]) -> bool:
    """`model.total()` of the losses that `forward()` has left in a field, weighed already; `step.loss` itself."""
    if not runs(plan, node) and not isinstance(node, ast.Attribute | ast.Subscript):
        return False
    functions = {f for n in weighed if (f := plan.program.function_of(n)) is not None}
    around = {n for f in functions for n in walk(f)}
    kept = [(base, one) for n in around for base, given in _stored(plan, n) for one in given]
    bases = [base for base, one in kept if not weighed.isdisjoint(plan.bindings.made_of(one))]
    names = {base.id for base in bases if isinstance(base, ast.Name) and not _is_made_in(plan, base, around)}
    read = {*run_by(plan, node)} if runs(plan, node) else {*walk(node)}
    if any(isinstance(n, ast.Name) and n.id in names for n in read):
        return True
    fields = [base for base in bases if isinstance(base, ast.Attribute)]
    return any(_is_field(plan, n, base) for n in read if isinstance(n, ast.Attribute) for base in fields)


def _is_field(plan: Reading, read: ast.Attribute, kept: ast.Attribute) -> bool:
    """Of one object, whatever it is called there."""
    mine, others = (plan.facts.value(n.value).objs for n in (read, kept))
    return read.attr == kept.attr and bool(mine & others or not (mine and others))


def _stored(plan: Reading, node: ast.AST) -> Iterator[tuple[ast.expr, Sequence[ast.expr]]]:
    """In what something is kept, and what: `self.last = loss.item()`, `losses["ce"] = loss`, `log.append(loss)`."""
    match node:
        case ast.Assign(targets=[target], value=value) | ast.AugAssign(target=target, value=value):
            while isinstance(target, ast.Subscript):
                target = target.value
            yield target, [value]
        case ast.Call(func=ast.Attribute(value=base), args=given) if entry_of(node).effect is Effect.STORES:
            yield base, given


def _gives_held(plan: Reading, call: ast.expr) -> bool:
    """`return {"ce": cross_entropy(out, y), "reg": …}`, a row, a tuple under one name: what is read later, and where?

    What is taken out of a tuple at once is weighed there.
    """
    value, around = plan.facts.value(call), plan.program.parents[call]
    unpacked = isinstance(around, ast.Assign) and isinstance(around.targets[0], ast.Tuple) and value.items
    opened = [
        inside
        for one in (value.items or [value] if unpacked else [value])
        for inside in contents(plan.facts, one, OPENED)
    ]
    held = [v for one in opened for obj in one.of(*OPENED) for _, v in plan.facts.fields.of(obj)]
    held += [item for one in opened for item in one.items or ()]
    return any(v.extent is Extent.MEAN and not v.items for v in held)


def _is_made_in(plan: Reading, base: ast.expr | None, inside: AbstractSet[ast.AST]) -> bool:
    """A name of these functions alone, and what it holds: no parameter, no other name for what is kept elsewhere."""
    function = plan.program.function_of(base) if isinstance(base, ast.Name) else None
    if not isinstance(base, ast.Name) or function is None or base.id not in local_names(function):
        return False
    if isinstance(base.ctx, ast.Store):
        return True
    made = [*plan.bindings.made_by(base)]
    return bool(made) and all(one in inside and not isinstance(one, ast.Attribute | ast.Subscript) for one in made)
