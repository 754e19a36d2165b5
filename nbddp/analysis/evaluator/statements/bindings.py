"""Bind names, attributes and items to values: assignments, `x += e`, imports, deletions."""

from __future__ import annotations

import ast
from dataclasses import replace
from itertools import takewhile

from nbddp.analysis.evaluator.attributes import store
from nbddp.analysis.evaluator.classes import by_class, by_operator
from nbddp.analysis.evaluator.expressions import evaluate, evaluate_unseen
from nbddp.analysis.evaluator.iteration import for_each_sample, iterate, parts, place_of_sample, written_elements
from nbddp.analysis.evaluator.operands import library, with_contents
from nbddp.analysis.evaluator.picking import at_own_places, note_rows_set, puts_back
from nbddp.analysis.evaluator.tensors import like, samples_at, shaped, with_dimensions
from nbddp.analysis.evaluator.writes import (
    grows_apart,
    is_restarted,
    moved_by_hand,
    put_all,
    put_element,
    taint,
    was_there,
)
from nbddp.analysis.slicing import fresh_start, starts_at_zero
from nbddp.analysis.syntax import bindings, increment
from nbddp.analysis.values import (
    Extent,
    Machine,
    Obj,
    Several,
    Value,
    as_mean,
    binary,
    bound,
    domain,
    note_gradient_put,
    note_size,
    note_statistic,
    note_statistic_given,
    part_of,
    spread,
    tell_unlike,
)


def assign(m: Machine, target: ast.expr, value: Value, *, added: bool = False) -> None:
    """Bind a target; `added` where the value was put on top of what was there."""
    match target:
        case ast.Name():
            m.bind(target.id, with_dimensions(m, target, bound(m, target, value)))
        case ast.Tuple() | ast.List():
            _unpack(m, target.elts, value)
        case ast.Starred():
            assign(m, target.value, value)
        case ast.Attribute():
            owner = evaluate(m, target.value)
            value = bound(m, target, value)
            if target.attr == "data":
                note_gradient_put(m, target, owner, [value])
            store(m, owner, target.attr, value)
            if owner.of("model", "submodule") and value.of("parameter") and value.varies:
                moved_by_hand(m, target.value, [value])
            for obj in owner.of("model"):
                for child in parts(m, value) - {obj}:
                    m.facts.contained[child].add(obj)
            if not owner.objs and value.varies:  # of a thing that nobody knows
                taint(m, target.value, Extent.VARYING)
        case ast.Subscript():
            _put_item(m, target, value, added)


def _put_item(m: Machine, target: ast.Subscript, value: Value, added: bool) -> None:
    container, key = evaluate(m, target.value), evaluate(m, target.slice)
    m.facts.stores[target].update(container.of("list", "dict"))
    if by_class(m, container, "setitem", [key, value]) is not None:
        return
    own = container.of("dict") and spread(key) not in (*domain.WHOLE, Extent.SAMPLES)  # `sizes[len(x)] += 1`
    put_element(m, container, value.with_extent(Extent.VARYING) if own else value, key.const)
    chosen = at_own_places(m, target, key) and not added  # what belongs to others is not met
    if not container.of("list", "dict", "model", "submodule"):
        note_statistic_given(m, target, container, [value])
        if spread(container) is Extent.SAMPLES:
            note_rows_set(m, target, container, value)
        chosen = chosen and not puts_back(m, target, container, value)
        put, filled = m.held(value), container.const is not None and not domain.is_zero(value)
        apart = chosen and (spread(container) in domain.WHOLE or was_there(m, target, m.shares))
        if put not in domain.WHOLE or apart:
            taint(m, target.value, Extent.VARYING if chosen else domain.join_extent(spread(container), put))
        elif added and key.varies:  # `seen[idx] += 1`: at the places of a rank's own samples
            own = spread(container) in (*domain.WHOLE, Extent.SUM)
            taint(m, target.value, Extent.SUM if own else Extent.VARYING)
        elif filled:  # `X = torch.zeros(n, 2); X[i] = point`: no zeros any more
            taint(m, target.value, spread(container))
    note_size(m.facts, container.of("dict") if key.varies else ())
    for holder in container.of("submodule", "model"):
        for child in parts(m, value):
            m.facts.contained[child].add(holder.owner or holder)


def _unpack(m: Machine, targets: list[ast.expr], value: Value) -> None:
    items = value.items or (written_elements(m, value) if value.of("list") else ())  # `loader, trains = [loader, True]`
    if len(items) == len(targets):
        for target, item in zip(targets, items, strict=True):
            assign(m, target, item)
        return
    if value.of("shape"):
        varies = value.varies
        for i, target in enumerate(targets):
            assign(m, target, m.size(value) if varies and i == samples_at(value) else Value(number=True))
        return
    if value.of("split"):
        each = Value(frozenset(Obj("dataset", t, "split", o) for t in targets[:1] for o in value.of("split")))
        for target in targets:
            assign(m, target, Value(frozenset(Obj("dataset", target, "split", o.owner) for o in each.objs)))
        return
    shapes = value.shape.of if isinstance(value.shape, Several) else ()
    for i, target in enumerate(targets):
        part = part_of(value) if value.of("foreign") else like(iterate(m, value, target), [value])
        part = domain.marked(part, domain.PLACED) if domain.of_pieces(value) else part  # `first, second = x.chunk(2)`
        assign(m, target, replace(part, shape=shapes[i]) if i < len(shapes) else part)


def run_assignment(m: Machine, node: ast.Assign) -> None:
    grown = increment(node)
    if grown is None:
        value = evaluate(m, node.value)
    else:
        value = _increment(m, grown.before, evaluate(m, grown.before), grown.op, grown.value)
        value = shaped(m, node.value, value)
    for target in node.targets:
        if isinstance(target, ast.Subscript) or (isinstance(target, ast.Attribute) and target.attr in ("data", "grad")):
            moved_by_hand(m, target.value, [value])
        with m.within(varying=m.context.varying and grown is None):  # which adds up, turn by turn
            assign(m, target, value)


def _increment(m: Machine, target: ast.expr, old: Value, op: ast.operator, operand: ast.expr) -> Value:
    new = as_mean(m, operand, evaluate(m, operand))
    if (own := by_operator(m, op, old, new, added=True)) is not None:
        return own
    if old.of("list") and isinstance(op, ast.Add):
        inner = m.elements(new) if new.of("list") else iterate(m, new, operand)
        if m.held(inner) in domain.WHOLE and not inner.objs and was_there(m, target, lambda a: a.deals):
            inner = inner.with_extent(Extent.VARYING)  # as many as a rank has batches
        note_size(m.facts, old.of("list", "dict") if grows_apart(m, new) else ())
        put_element(m, old, domain.marked(inner, domain.PICKED) if new.of(domain.PICKED) else inner)
        return old
    if old.of("dict") and isinstance(op, ast.BitOr):
        return put_all(m, old, new)
    if old.of("list") and (new.of("list") or isinstance(op, ast.BitOr)):  # sets: the one gets what the other has
        inner = m.elements(new) if new.of("list") else iterate(m, new, operand)
        note_size(m.facts, old.of("list") if m.held(inner) not in domain.WHOLE else ())
        put_element(m, old, inner)
        return old
    turns = was_there(m, target, lambda a: a.deals)
    counts = m.context.varying or turns
    if counts and isinstance(op, ast.Add | ast.Sub) and not new.varies:
        return _counted_up(m, target, old, new, operand)
    apart = turns or (counts and old.extent in domain.WHOLE and not new.varies)
    if apart and not isinstance(op, ast.Add | ast.Sub):
        # `rate *= 0.9`: as often as a rank has batches, or samples of its own
        return Value(extent=Extent.VARYING, number=old.number and new.number)
    if isinstance(op, ast.Add) and spread(new) is Extent.SAMPLES and spread(old) is Extent.SUM:
        return old if _sum_of_samples(m, new) is Extent.SUM else old.with_extent(Extent.VARYING)
    adds = isinstance(op, ast.Add | ast.Sub)
    if adds and m.alone(new) and not m.alone(old) and not _begun_in_turn(m, target, operand, new):
        new = Value(extent=_sum_of_samples(m, new), number=new.number)
    gathers = old.extent in domain.WHOLE and not old.const and not _begun_here(m, operand)
    if isinstance(op, ast.Add) and spread(new) is Extent.SUM and gathers:
        number = old.number and new.number
        equal = new.equal and domain.alike(old)  # an accumulator
        return Value(extent=Extent.SUM, equal=equal, batches=new.batches, number=number)
    found = tell_unlike(m, binary(old, new, op), (target, old), (operand, new))
    if found.of(domain.ASSUMED) and not isinstance(op, ast.Add | ast.Sub):
        found = Value(extent=Extent.VARYING, number=found.number)  # who multiplies again and again weights no mean
    return with_contents(m, found, old, new)


def _sum_of_samples(m: Machine, new: Value) -> Extent:
    """Of those that come by, one by one; chosen by their places they are others: `if i % 2: loss += error`."""
    return Extent.VARYING if new.of(domain.PLACED) or m.context.of_share else Extent.SUM


def _counted_up(m: Machine, target: ast.expr, old: Value, new: Value, operand: ast.expr) -> Value:
    """How often this runs differs between ranks: samples add up, and not what ranks think of their shares."""
    if new.const == 1 and (loop := _counting(m, target, operand)) is not None:
        return place_of_sample(loop)
    adds_up = spread(old) in (Extent.UNIFORM, Extent.SUM) and not m.context.of_share
    adds_up = adds_up and not any(a.deals and is_restarted(a.fact.node, target) for a in m.loops)
    return Value(extent=Extent.SUM if adds_up else Extent.VARYING, number=old.number and new.number)


def _counting(m: Machine, target: ast.expr, operand: ast.expr) -> ast.For | None:
    """The loop over the samples of a batch of which each turn adds to a number that begins before it."""
    statement = m.program.statement_of(operand)
    loop = m.program.parents.get(statement)
    if not (isinstance(loop, ast.For) and isinstance(target, ast.Name) and for_each_sample(m, loop.iter)):
        return None
    start = fresh_start(m.program, loop, target.id)
    return loop if start is not None and m.program.parents.get(start) is not m.program.tree else None


def _begun_in_turn(m: Machine, target: ast.expr, operand: ast.expr, new: Value) -> bool:
    """`error = 0; for row in sample: error += row.mean()`: of one sample, too."""
    loops = {o.node for o in new.of(domain.ONE)}
    statement = m.program.statement_of(operand)
    around = takewhile(lambda n: n not in loops, (statement, *m.program.ancestors(statement)))
    inside = [n for n in around if isinstance(n, ast.stmt)]
    return isinstance(target, ast.Name) and any(fresh_start(m.program, n, target.id) for n in inside)


def _begun_here(m: Machine, operand: ast.expr) -> bool:
    """`loss = penalty; loss += errors.sum()`: in the same turn of the batches, and not with zero."""
    statement = m.program.statement_of(operand)
    target = statement.targets[0] if isinstance(statement, ast.Assign) else getattr(statement, "target", None)
    if not isinstance(target, ast.Name) or not m.sharing():
        return False
    start = fresh_start(m.program, statement, target.id)
    return start is not None and not starts_at_zero(start, target.id)


def run_augmented(m: Machine, node: ast.AugAssign) -> None:
    load = _as_load(node.target)
    old = evaluate_unseen(m, load)
    if isinstance(load, ast.Subscript) and m.facts.value(load.slice).varies:
        old = old.with_extent(_of_all_places(m, m.facts.value(load.value), old))
    new = _increment(m, load, old, node.op, node.value)
    value = replace(new, arrays=old.arrays, shape=old.shape or new.shape)  # in its place
    note_statistic(m, node, old, m.facts.value(node.value))
    moved_by_hand(m, node.target, [m.facts.value(node.value)], old)
    with m.within(varying=False):
        assign(m, node.target, value, added=True)
    if isinstance(load, ast.Subscript) and m.facts.value(load.slice).varies:
        value = evaluate_unseen(m, load.value)  # what was added there tells of the whole
    m.change_arrays(old.arrays, spread(value))


def _of_all_places(m: Machine, container: Value, picked: Value) -> Extent:
    """`counts[label] += 1`: who picks the place is no matter, but what is there."""
    if container.of("list", "dict"):
        return spread(m.elements(container))
    return spread(picked) if container.objs else spread(container)


def _as_load(target: ast.expr) -> ast.expr:
    """The same place, read: a fresh node for the last step only, the inner ones are loads already."""
    copy: ast.expr
    match target:
        case ast.Name():
            copy = ast.Name(target.id, ast.Load())
        case ast.Attribute():
            copy = ast.Attribute(target.value, target.attr, ast.Load())
        case ast.Subscript():
            copy = ast.Subscript(target.value, target.slice, ast.Load())
        case _:
            return target
    return ast.copy_location(copy, target)


def run_annotated(m: Machine, node: ast.AnnAssign) -> None:
    """Of a class: its fields."""
    if node.value is not None:
        assign(m, node.target, evaluate(m, node.value))


def run_deletion(m: Machine, node: ast.Delete) -> None:
    env = m.globals if m.frame.node is None else m.frame.local
    m.rebound = object()
    for target in node.targets:
        if isinstance(target, ast.Name):
            env.pop(target.id, None)
        elif isinstance(target, ast.Subscript):
            container, key = evaluate(m, target.value), evaluate(m, target.slice)
            m.facts.stores[target].update(container.of("list", "dict"))
            note_size(m.facts, container.of("list", "dict") if m.context.own_turns or key.varies else ())


def run_import(m: Machine, node: ast.Import | ast.ImportFrom) -> None:
    for name, target in bindings(node):
        if name == "*":
            m.star_imports.append(target.removesuffix(".*"))
        else:
            m.set_plain(name, library(target))
