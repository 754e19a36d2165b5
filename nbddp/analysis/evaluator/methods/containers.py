"""Methods of lists and dictionaries."""

from __future__ import annotations

import ast
from dataclasses import replace

from nbddp.analysis.evaluator.iteration import for_each_sample, hangs_on_place, iterate
from nbddp.analysis.evaluator.methods.rows import goes_together
from nbddp.analysis.evaluator.writes import grows_apart, put_all, put_element, were_there
from nbddp.analysis.syntax import walk
from nbddp.analysis.values import (
    ANYTHING,
    MOVED,
    PICKED,
    WHOLE,
    Active,
    Args,
    Extent,
    Keywords,
    Machine,
    Obj,
    Value,
    holds_own,
    is_of_own_choice,
    note_size,
    of_each,
    single,
    spread,
    thing,
)

LOOKS = ("most_common", "elements", "total", "index", "count")  # at all that there is: each rank at its own
SHORTENS = frozenset({"clear", "remove", "discard", "popitem"})


def _loop_for_each_sample(m: Machine, holders: frozenset[Obj], value: Value) -> ast.AST | None:
    """`labels.append(1)` in a loop over the samples of a batch."""
    unlike = m.held(value) not in (*WHOLE, Extent.VARYING) or value.objs - value.of("counter")
    there = not unlike and were_there(m, holders, lambda active: _goes_through_samples(m, active))
    return next((a.fact.node for a in reversed(m.loops) if there and _goes_through_samples(m, a)), None)


def _of_its_turn(m: Machine, holders: frozenset[Obj], value: Value, node: ast.expr) -> Value:
    """The same on all ranks, or drawn: put into a list for each sample it is that sample's, unless by its place."""
    loop = _loop_for_each_sample(m, holders, value) if m.held(value) in WHOLE else None
    if loop is None:
        return value
    if hangs_on_place(m, loop, node):
        return value.with_extent(Extent.VARYING)
    return single(value.with_extent(Extent.SAMPLES), loop)


def _goes_through_samples(m: Machine, active: Active) -> bool:
    return isinstance(active.fact.node, ast.For) and for_each_sample(m, active.fact.node.iter)


def _one_for_each_turn(m: Machine, node: ast.Call, holders: frozenset[Obj], value: Value) -> bool:
    """`log.append(1)`, of which a rank has as many as it has batches of an evaluation."""
    given = any(o.node in walk(node.func) for o in holders)  # `d.setdefault("log", []).append(1)`: which stays in `d`
    there = (given and m.deals()) or were_there(m, holders, lambda a: a.deals)
    return m.held(value) in WHOLE and not value.objs - value.of("counter") and there


def container_method(
    m: Machine, node: ast.Call, base: Value, attr: str, args: Args, keywords: Keywords
) -> Value | None:
    first = args[0] if args else ANYTHING
    holders = base.of("list", "dict")
    if attr in ("append", "add", "appendleft", "insert"):
        value = _of_one_sample(m, args[-1], node) if args else ANYTHING
        chosen = is_of_own_choice(m.facts, node)
        grows = attr == "add" and spread(value) not in (*WHOLE, Extent.SAMPLES)  # a set, by what is not in it yet
        own = m.context.own_turns or chosen or grows
        value = value if own else _of_its_turn(m, holders, value, node.args[-1])
        own = own or _loop_for_each_sample(m, holders, value) is not None
        note_size(m.facts, holders if own else ())
        note_size(m.facts, _those_around(m, node) if chosen else ())
        value = value.with_extent(Extent.VARYING) if chosen or _one_for_each_turn(m, node, holders, value) else value
        if goes_together(m, node, value):
            value = value.with_extent(Extent.UNIFORM)
            m.make_uniform(value)
        _put(m, holders, value)
        return ANYTHING
    if attr in ("extend", "update", "subtract"):
        inner = m.elements(first) if first.of("list", "dict") else iterate(m, first, node)
        counts = attr != "update" or any(_is_counter(m, o) for o in holders)
        inner = inner.with_extent(Extent.VARYING) if counts and _one_for_each_turn(m, node, holders, inner) else inner
        note_size(m.facts, holders if grows_apart(m, first) or is_of_own_choice(m.facts, node) else ())
        _put(m, holders, replace(inner, objs=inner.objs | first.of(PICKED, MOVED)))
        put_all(m, Value(holders), first)
        for key, value in keywords.items():
            put_element(m, Value(holders), value, key)
        return ANYTHING
    if attr == "items":
        made = thing("iterator", node, "items")
        for obj in made.objs:
            m.put(obj, "of", base)
        return made
    if attr == "values":
        made = m.make("list", node)
        _put(m, made.objs, m.elements(base))
        return made.with_extent(base.extent)
    if attr in ("copy", "keys"):
        return base if attr == "copy" else ANYTHING
    if attr in ("get", "pop", "popleft", "setdefault"):
        if attr == "setdefault" and len(args) > 1:
            m.made_in.update((inner, m.made_in.get(o, ())) for o in holders for inner in args[1].of("list", "dict"))
            _put(m, holders, args[1])
        takes = attr not in ("get", "setdefault") and m.context.own_turns
        note_size(m.facts, holders if takes or (attr == "setdefault" and first.varies) else ())
        exact = [m.get(o, f"[{first.const!r}]") for o in holders if first.const is not None]
        found = [v for v in exact if v is not None]
        if not found and attr == "get" and len(args) == 1:
            return _perhaps_none(m, holders, m.elements(base))
        return found[0] if found else m.elements(base)
    note_size(m.facts, holders if attr in SHORTENS and (m.context.own_turns or first.varies) else ())
    return Value(extent=Extent.VARYING) if attr in LOOKS and holds_own(m.facts, base) else None


def _perhaps_none(m: Machine, holders: frozenset[Obj], value: Value) -> Value:
    """`log.get("other")` of what has a number by another key: no number may be there to be combined."""
    keyed = value.varies and any(f.startswith("['") for f, _ in m.facts.fields.of(*holders))
    return value.with_extent(Extent.VARYING) if keyed and not value.objs else value


def fill(m: Machine, holders: Value, args: Args, keywords: Keywords) -> None:
    """With what a container is made of."""
    for key, value in keywords.items():
        put_element(m, holders, value, key)
    for given in args[-1:]:  # before it, `defaultdict` gets what makes the items
        each = m.elements(given) if given.of("list", "dict") else iterate(m, given, _CONTENTS)
        pairs = each.items if holders.of("dict") and not given.of("dict") else None  # `super().__init__(zip(a, b))`
        _put(m, holders.objs, pairs[-1] if pairs else each)
        put_all(m, holders, given)


def _those_around(m: Machine, call: ast.Call) -> frozenset[Obj]:
    """The dictionary of `by_class[label].append(…)`, which may get the label only now."""
    match call.func:
        case ast.Attribute(value=ast.Subscript(value=around) | ast.Call(func=ast.Attribute(value=around))):
            return m.facts.value(around).of("dict")
    return frozenset()


def _is_counter(m: Machine, obj: Obj) -> bool:
    made = m.facts.calls.get(obj.node) if isinstance(obj.node, ast.Call) else None
    return made is not None and "collections.Counter" in made.names


def _of_one_sample(m: Machine, value: Value, call: ast.Call) -> Value:
    """What is kept in a loop over samples is an item for each of them; so far counted, it is that of its place."""
    counted = m.context.varying and any(v.extent is Extent.SUM for v in (value, *(value.items or ())))
    loops = [a.fact.node for a in m.loops if _goes_through_samples(m, a)] if counted else []
    by_place = any(hangs_on_place(m, loop, call.args[-1]) for loop in loops)
    return value.with_extent(Extent.VARYING) if by_place else of_each(value) if counted else value


def _put(m: Machine, holders: frozenset[Obj], value: Value) -> None:
    unlike = m.context.of_share or (m.context.own_turns and value.extent is Extent.MEAN)
    if unlike or (m.context.varying and not value.varies):
        value = value.with_extent(Extent.VARYING)
    for obj in holders:
        m.put(obj, "[]", value, beside=True)


_CONTENTS = ast.Pass()
