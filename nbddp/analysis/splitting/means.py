"""Means over a rank's samples: each counts by how many of the batch they are."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from nbddp.analysis.combining import lets_out
from nbddp.analysis.library import Effect, entry_of
from nbddp.analysis.reading import Reading
from nbddp.analysis.slicing import local_names
from nbddp.analysis.splitting.regions import definitions, is_split, region_at, run_by, stored
from nbddp.analysis.syntax import walk
from nbddp.analysis.values import FLAT, ITEMS, OPENED, TURNED, WHOLE, Extent, Split, backward_of, contents, spread

COUNTING = (ast.BinOp, ast.Call, ast.Return, ast.AugAssign)


@dataclass(frozen=True, eq=False)
class Means:
    """Of one split step."""

    born: tuple[ast.expr, ...]  # expressions that are a mean, and whose parts are none
    unpacked: tuple[tuple[ast.stmt, str], ...]  # names that get one out of a tuple
    counts: tuple[ast.expr, ...]  # numbers of samples that a mean is multiplied by
    inner: tuple[Inner, ...] = ()  # in functions of the step that make means of several batches, or keep one
    unseen: tuple[ast.expr, ...] = ()  # which functions keep, and it is not seen of which samples
    beside: tuple[ast.expr, ...] = ()  # numbers of samples that functions multiply one of their means by


@dataclass(frozen=True, eq=False)
class Inner:
    """A mean in a function: over the samples of a name there, which come from some of what is split."""

    node: ast.expr
    samples: str
    keys: frozenset[str]


def means_of(plan: Reading, split: Split) -> Means:
    born: list[ast.expr] = []
    inner: list[Inner] = []
    unpacked: list[tuple[ast.Assign, str]] = []
    counts: list[ast.expr] = []
    unseen: list[ast.expr] = []
    beside: list[ast.expr] = []
    region = region_at(plan, split.at)
    apart = {n for loop in plan.dealt for n in walk(loop)}  # evaluations in the step, of whole batches
    inside = {n for s in region.rest for n in walk(s)}
    for statement in region.rest:
        for node in (n for n in walk(statement) if n not in apart):
            if isinstance(node, ast.Assign):
                unpacked += [(node, name) for name in _out_of_a_tuple(plan, node)]
            elif isinstance(node, COUNTING):
                counts += _counts(plan, node)
            is_born, runs = _is_born(plan, node), _runs(plan, node)
            if (is_born or runs) and not _runs(plan, node, within=inside):
                assert isinstance(node, ast.expr)
                scales = _scales(plan, node)
                keeps = scales or _keeps_means(plan, node)
                kept = sorted(means_in(plan, node), key=plan.program.span) if keeps else []
                placed = {n: _inner_mean(plan, split, n) for n in kept}
                asked = _learned_from(plan, node) or {*(kept if is_born or scales else ())}  # not a meter's average
                unseen += [n for n in kept if placed[n] is None and n in asked]
                found = [*placed.values()] or (_of_several(plan, split, node) if is_born and runs else [])
                inner += [one for one in found if one is not None]
                beside += _counted_in(plan, node) if any(found) else []
                born += [node] if is_born and not (found or scales) else []
    averaged = sorted(plan.assumed.averaged - inside - {one.node for one in inner}, key=plan.program.span)
    inner += [one for node in averaged if (one := _inner_mean(plan, split, node)) is not None]
    for node in sorted(_around(plan, split, inside) - apart - {one.node for one in inner}, key=plan.program.span):
        outer = _outer_mean(plan, split, node)
        inner, unseen = [*inner, *([outer] if outer else [])], [*unseen, *([] if outer else [node])]
    weighed = {one.node for one in inner}  # in a function: what that gives is not weighed once more
    again = [n for n in born if _reads_kept(plan, n, weighed)]
    unseen += [n for n in again if _runs(plan, n) and means_in(plan, n) - weighed]  # and a mean of its own beside it
    born = [n for n in born if n not in again and weighed.isdisjoint(means_in(plan, n))]
    unpacked = [(n, name) for n, name in unpacked if weighed.isdisjoint(means_in(plan, n.value))]
    beside = _first_of(plan, [*dict.fromkeys(beside)])
    counts = [n for n in counts if n not in beside and not _comes_from(plan, n, beside)]
    return Means(tuple(born), tuple(unpacked), tuple(counts), tuple(inner), tuple(unseen), tuple(beside))


def _reads_kept(plan: Reading, node: ast.expr, weighed: AbstractSet[ast.AST]) -> bool:
    """`model.total()` of the losses that `forward()` has left in a field, weighed already."""
    inside = {*run_by(plan, node)} if _runs(plan, node) else {*walk(node)}
    functions = {f for n in weighed if (f := plan.program.function_of(n)) is not None}
    around = {n for f in functions for n in walk(f)}
    kept = [(base, one) for n in around for base, given in _stored(plan, n) for one in given]
    bases = [base for base, one in kept if not weighed.isdisjoint(plan.bindings.made_of(one))]
    fields = {base.attr for base in bases if isinstance(base, ast.Attribute)}
    names = {base.id for base in bases if isinstance(base, ast.Name) and not _is_made_in(plan, base, around)}
    return any(
        n.attr in fields if isinstance(n, ast.Attribute) else n.id in names
        for n in inside
        if isinstance(n, ast.Attribute | ast.Name)
    )


def _counted_in(plan: Reading, call: ast.AST) -> Iterator[ast.expr]:
    """`meter.update(loss.item(), len(x))` in what a call runs."""
    for node in {*run_by(plan, call)} - {*walk(call)}:
        if isinstance(node, COUNTING):
            yield from _counts(plan, node)


def _first_of(plan: Reading, counts: list[ast.expr]) -> list[ast.expr]:
    """Where each is counted, and not once more where it is handed on: `self.sum += value * n`."""
    return [n for n in counts if not _comes_from(plan, n, counts)]


def _comes_from(plan: Reading, count: ast.expr, others: Sequence[ast.expr]) -> bool:
    return any(one is not count and one in others for one in plan.bindings.made_of(count))


def _around(plan: Reading, split: Split, inside: AbstractSet[ast.AST]) -> set[ast.expr]:
    """Means of those who call the function of a split, `out, x = drawn(25)`, and go back themselves."""
    scope = region_at(plan, split.at).scope
    waiting, seen, found = [scope], set[ast.AST | None](), set[ast.AST]()
    own = scope is None or split.step in {*walk(scope)}
    while waiting and not own and split.step not in found:
        seen.add(function := waiting.pop())
        for call in plan.callers.get(function, ()) if function is not None else ():
            top = [a for a in plan.program.ancestors(call) if isinstance(a, ast.stmt)]
            around = plan.program.function_of(call)
            found |= {*walk(around or top[-1])}
            waiting += [around] if around not in seen else []
    born = (n for n in found - inside if isinstance(n, ast.expr) and _is_born(plan, n))
    return {n for n in born if split.at not in {*run_by(plan, n)}}


def _outer_mean(plan: Reading, split: Split, node: ast.expr) -> Inner | None:
    """Of samples that have a name where it is taken; of how many it is, all ranks have to say."""
    function = plan.program.function_of(node)
    made = (n for n in plan.bindings.made_of(node, through_calls=False) if isinstance(n, ast.Name))
    own = (n for n in made if is_split(plan, n) and plan.program.function_of(n) is function)
    samples = next((n.id for n in own if not plan.facts.value(n).of(TURNED, FLAT)), None)
    varying = any(f.varying_control for f in plan.facts.calls.values() if function in f.bodies)
    return Inner(node, samples, frozenset(split.names)) if samples and not (varying or split.dim) else None


def means_in(plan: Reading, call: ast.AST) -> set[ast.expr]:
    """Those that come about in the functions that a call of the step runs; of `parts["a"]` in what made the parts."""
    base = call.value if isinstance(call, ast.Attribute | ast.Subscript) else call
    made = (*plan.bindings.made_by(base), *plan.bindings.below(base)) if isinstance(base, ast.Name) else ()
    calls = [call, *made]
    inside = {n for one in calls for n in run_by(plan, one)} - {*walk(call)}
    born = {n for n in inside if isinstance(n, ast.expr) and _is_born(plan, n) and not _runs(plan, n)}
    return {n for n in born if not _is_average(plan, n)}


def _keeps_means(plan: Reading, call: ast.expr) -> bool:
    """`self.last = loss.item()`, `loss.backward()`, `print(loss)` in what it runs, besides what it gives back."""
    inside = {*run_by(plan, call)} - {*walk(call)} if _runs(plan, call) else set()
    if not plan.facts.backward.isdisjoint(inside) or (inside and _gives_held(plan, call)):
        return True
    read = {n.attr for n in plan.nodes() if isinstance(n, ast.Attribute) and n not in inside}
    for node in inside:
        if isinstance(node, ast.Call) and node in plan.facts.calls and lets_out(plan.facts.calls[node]):
            if any(_holds_mean(plan, one) for one in node.args):
                return True
        for base, given in _stored(plan, node):
            out = base.attr in read if isinstance(base, ast.Attribute) else not _is_made_in(plan, base, inside)
            if out and any(_holds_mean(plan, one) for one in given):
                return True
    return False


def _stored(plan: Reading, node: ast.AST) -> Iterator[tuple[ast.expr, Sequence[ast.expr]]]:
    """In what something is kept, and what: `self.last = loss.item()`, `losses["ce"] = loss`, `log.append(loss)`."""
    match node:
        case ast.Assign(targets=[target], value=value) | ast.AugAssign(target=target, value=value):
            while isinstance(target, ast.Subscript):
                target = target.value
            yield target, [value]
        case ast.Call(func=ast.Attribute(value=base), args=given) if entry_of(node).effect is Effect.STORES:
            yield base, given


def _scales(plan: Reading, call: ast.AST) -> bool:
    """Do functions that it runs add a sum to a mean? Such a sum adds up as it is, and only the mean is weighed."""
    return not plan.assumed.scaled.isdisjoint({*run_by(plan, call)} - {*walk(call)})


def _learned_from(plan: Reading, call: ast.AST) -> set[ast.AST]:
    """What goes into the losses that it itself goes back from."""
    losses = (backward_of(one) for one in plan.facts.backward & ({*run_by(plan, call)} - {*walk(call)}))
    return {n for loss in losses if loss is not None for n in plan.bindings.made_of(loss)}


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


def _of_several(plan: Reading, split: Split, call: ast.expr) -> list[Inner]:
    """The means that a function adds up, where they are of batches that never meet.

    `def loss(self, x, u, grid): return mse(self(x), u) + self.residual(grid)`
    """
    found, waiting, seen = list[Inner](), [call], set[ast.AST]()
    while waiting:
        node = waiting.pop()
        if node in seen or not _holds_mean(plan, node):
            continue
        seen.add(node)
        if node is not call and not _runs(plan, node) and _is_born(plan, node):
            if (one := _inner_mean(plan, split, node)) is None:
                return []
            found.append(one)
            continue
        made = [*plan.bindings.below(node)]
        below = made or [n for n in ast.iter_child_nodes(node) if isinstance(n, ast.expr)]
        if not any(_holds_mean(plan, n) for n in below):
            return []
        waiting += below
    return found if any(a.keys.isdisjoint(b.keys) for a in found for b in found) else []


def _inner_mean(plan: Reading, split: Split, node: ast.expr) -> Inner | None:
    """Nothing where it is not seen of which samples it is, or where ranks come by unlike often."""
    made = [n for n in plan.bindings.made_of(node, through_calls=False) if isinstance(n, ast.expr)]
    function = plan.program.function_of(node)
    named = [n for n in made if isinstance(n, ast.Name) and is_split(plan, n)]
    own = (n for n in named if plan.program.function_of(n) is function and n.id.isidentifier())
    samples = next((n.id for n in own if not plan.facts.value(n).of(TURNED, FLAT)), None)
    reached = (f for f in plan.facts.calls.values() if function in f.bodies)
    apart = any(f.varying_control or f.loops & plan.dealt for f in reached)
    names = {n.id for n in named if n.id in split.names}
    keys = {plan.program.source(n) for n in made if n in split.renamed or n in split.inline} | names
    return Inner(node, samples, frozenset(keys)) if samples and keys and not (apart or split.dim) else None


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
    of_samples = any(spread(plan.facts.value(part)) not in (*WHOLE, Extent.MEAN) for part in inner)
    return (of_samples or _runs(plan, node)) and not any(_is_of_means(plan, part) for part in inner)


def _is_of_means(plan: Reading, node: ast.AST) -> bool:
    """Also a list or a dict of losses; not one of numbers that were written down."""
    held = contents(plan.facts, plan.facts.value(node), ITEMS)
    return _is_mean(plan, node) or any(v.extent is Extent.MEAN and not (v.number or v.items) for v in held)


def _runs(plan: Reading, node: ast.AST, *, within: AbstractSet[ast.AST] | None = None) -> bool:
    """A function of the notebook, which may take the samples from elsewhere; a closure within, which has weighed."""
    fact = plan.facts.calls.get(node) if isinstance(node, ast.Call) else None
    return fact is not None and bool(fact.bodies) and (within is None or fact.bodies <= within)


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
    loop = next((a for a in plan.program.ancestors(node) if isinstance(a, ast.For | ast.While)), None)
    if loop is not None and any(loop not in plan.program.ancestors(n) for n in made):
        return False  # a meter from before the loop, which holds means that were weighed
    return bool(made) and calls == made and not any(_is_of_means(plan, part) for n in made for part in _inner(n))


def uncounted(plan: Reading, split: Split) -> ast.expr | None:
    """A mean in a loss of the step of which it is not seen where it comes about, so that it cannot be weighed."""
    region, means = region_at(plan, split.at), means_of(plan, split)
    if means.unseen:
        return means.unseen[0]
    known = {*means.born, *plan.assumed.scaled, *(inner.node for inner in means.inner)}
    summed_up = {call for call in {n for s in region.rest for n in walk(s)} if _is_born(plan, call)} - {*means.born}
    named = {name for _, name in means.unpacked}
    inside = {n for s in region.rest for n in walk(s)}
    for call in sorted(plan.facts.backward & inside, key=plan.program.span):
        waiting, seen = [backward_of(call), *plan.assumed.averaged], set[ast.AST]()
        while waiting:
            node = waiting.pop()
            if node is None or node in seen or node in known | summed_up or not _holds_mean(plan, node):
                continue
            inner_means = means_in(plan, node) if _runs(plan, node) else set()
            if (inner_means or _scales(plan, node)) and inner_means <= known:
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
    return any(_is_of_means(plan, part) for part in (node, *_inner(node)))


def _inner(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        yield child
        yield from _inner(child)


def _out_of_a_tuple(plan: Reading, node: ast.Assign) -> Iterator[str]:
    items = plan.facts.value(node.value).items
    target = node.targets[0]
    if items is None or not isinstance(node.value, ast.Call) or not isinstance(target, ast.Tuple):
        return
    if _scales(plan, node.value):
        return
    for name, value in zip(target.elts, items, strict=False):
        if isinstance(name, ast.Name) and spread(value) is Extent.MEAN and not value.items:
            yield name.id


def _counts(plan: Reading, node: ast.BinOp | ast.Call | ast.Return | ast.AugAssign) -> Iterator[ast.expr]:
    """`loss.item() * len(xb)`, `meter.update(loss.item(), len(xb))`: times an even share's samples it adds up.

    `return loss.item(), len(xb)`: whoever calls it multiplies them. `meter.update(correct, len(xb))`, `self.seen +=
    len(xb)`: what divides by it does so on each rank.
    """
    if isinstance(node, ast.AugAssign):
        yield from [node.value] if isinstance(node.target, ast.Attribute) and plan.facts.value(node.value).size else []
        return
    if isinstance(node, ast.Return):
        parts, multiplies = [*getattr(node.value, "elts", ())], True
    elif isinstance(node, ast.BinOp):
        parts, multiplies = [node.left, node.right], isinstance(node.op, ast.Mult)
    else:  # not `"{}: {}".format(step * len(xb), loss)`, which only reads them
        parts = [*node.args, *(k.value for k in node.keywords)]
        multiplies = entry_of(node, plan.flow.imports).effect is not Effect.READS
    summed = _runs(plan, node) and any(_is_summed(plan, part) for part in parts)
    if multiplies and (summed or any(_is_mean(plan, part) for part in parts)):
        yield from (part for part in parts if plan.facts.value(part).size)


def _is_average(plan: Reading, node: ast.AST) -> bool:
    """`self.sum / self.count`: a number of what has been weighed, over even shares; no loss."""
    match node:
        case ast.BinOp(op=ast.Div(), right=ast.Attribute() as count) if plan.facts.value(node).number:
            over = plan.facts.value(count)
            return over.extent is Extent.SUM and over.number and not over.size
    return False


def _is_summed(plan: Reading, node: ast.expr) -> bool:
    value = plan.facts.value(node)
    return value.extent is Extent.SUM and value.number and not (value.size or value.items)
