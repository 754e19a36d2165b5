"""How a loader comes by a batch: by items of a data set, and by a function that puts them together."""

from __future__ import annotations

import ast
from collections.abc import Set
from dataclasses import replace
from functools import lru_cache

from nbddp.analysis.evaluator.classes import class_member, own_methods
from nbddp.analysis.slicing import root_name
from nbddp.analysis.syntax import Program, returns_none, walk
from nbddp.analysis.values import (
    ANYTHING,
    BY_MASK,
    EACH,
    PICKED,
    RAGGED,
    STATISTIC,
    UNLIKE,
    Extent,
    Machine,
    Obj,
    Value,
    join_all,
    marked,
    note_size,
    single,
    spread,
)

GROWS = ("append", "add", "update", "extend", "setdefault", "appendleft")


def put_together(m: Machine, loader: Obj) -> Value | None:
    """What a loader's own function makes of the samples that a rank draws: of a part, where it shows what that is."""
    given = m.get(loader, "collate_fn")
    if given is None or loader in m.assumed.alike or not m.sharing():
        return None
    drawn = marked(m.make("list", loader.node), EACH)
    for obj in drawn.of("list"):
        m.put(obj, "[]", single(Value(extent=Extent.SAMPLES), loader.node))
    functions = [*given.of("function", "method"), *own_methods(m, given, "__call__")]
    for cls in given.of("class"):  # of a batch: `collate_fn=Batch`
        assert isinstance(cls.node, ast.ClassDef)
        batch = Obj("instance", loader.node, cls.name)
        m.facts.classes[batch] = cls.node
        functions += (class_member(m, cls.node, "__init__", batch) or ANYTHING).of("method")
    made = [m.steps.function(m, function, [drawn], {}, None) for function in functions]
    if (later := Value(given.of("partial"))).objs and isinstance(loader.node, ast.Call):
        made.append(m.steps.call(m, loader.node, later, None, [drawn], {}))
    return join_all(made) if made else None


def may_be_no_batch(m: Machine, node: ast.expr) -> bool:
    """`batch` of `for batch in loader`, whose `collate_fn` gives None where it has no sample."""
    given = (fact.args["collate_fn"] for fact in m.facts.calls.values() if "collate_fn" in fact.args)
    return isinstance(node, ast.Name) and any(map(_gives_none, given))


def _gives_none(function: Value) -> bool:
    return any(returns_none(o.node) for o in function.of("function"))


def is_packed(value: Value) -> bool:
    """`pack_sequence(xs)`, perhaps beside labels: in it long sequences are more than short ones."""
    packed = value.of(BY_MASK) and any(o.name != RAGGED for o in value.of(PICKED))
    return bool(packed) or any(map(is_packed, value.items or ()))


def of_the_share(m: Machine, made: Value, batch: Value, function: Value = ANYTHING) -> Value:
    """What it finds in the samples of a rank, `torch.bincount(labels)` beside them, or leaves out of these."""
    if _gives_none(function):
        return marked(batch, PICKED)  # where it has left out all of them
    if made.items:
        return replace(batch, items=tuple(_item_of_the_share(m, item, batch) for item in made.items))
    if made.of(EACH):
        return marked(batch, EACH)
    if made.of("list") and m.elements(made).of(EACH):  # `tuple(zip(*samples))`
        for obj in made.of("list"):
            m.facts.fields[obj, "[]"] = marked(batch, EACH)
        return made
    fields = [(obj, field, value) for obj in made.of("dict") for field, value in m.facts.fields.of(obj)]
    items = [(obj, field, _item_of_the_share(m, value, batch)) for obj, field, value in fields]
    if any(item is not batch for _, _, item in items):
        for obj, field, item in items:
            m.facts.fields[obj, field] = item
        return made
    return made if made.of(UNLIKE, PICKED) else batch


def _item_of_the_share(m: Machine, made: Value, batch: Value) -> Value:
    if made.number and made.extent is Extent.REPEATED:  # `np.random.beta(a, a)`: a rank draws for its own batches
        return replace(made, extent=Extent.VARYING)
    found = spread(made) in (Extent.MEAN, Extent.SUM)
    found = found or (spread(made) is Extent.VARYING and not made.of(STATISTIC))  # no offsets
    own = bool(made.of(STATISTIC)) if made.of(EACH) else found  # `[1 / counts[label] for label in labels]`
    return made if own else of_the_share(m, made, batch)


def note_items_read(m: Machine, loader: Obj) -> None:
    """What a data set keeps as its items are read, a counter or a cache, is of those that a rank has read."""
    active = m.loops[-1] if m.loops else None
    if active is None or not active.shares or loader in m.assumed.alike:
        return
    for data in (m.get(loader, "dataset") or ANYTHING).objs:
        node = m.facts.classes.get(data)
        for field in sorted(_kept_by_items(node) & _read_elsewhere(m.program, node)) if node is not None else ():
            holders = (m.get(data, field) or ANYTHING).of("list", "dict")
            note_size(m.facts, holders)
            for holder in holders:
                m.put(holder, "[]", Value(extent=Extent.VARYING))
            if not holders:
                m.put(data, field, Value(extent=Extent.VARYING))


@lru_cache(maxsize=64)
def _kept_by_items(node: ast.ClassDef) -> Set[str]:
    """Fields that `__getitem__` sets, or puts something into."""
    found = set[str]()
    for method in (s for s in node.body if isinstance(s, ast.FunctionDef) and s.name == "__getitem__"):
        own = method.args.args[0].arg if method.args.args else ""
        for part in walk(method):
            place: ast.AST = part
            match part:
                case ast.Call(func=ast.Attribute(value=held, attr=word)) if word in GROWS:
                    place = held
                case ast.Attribute(ctx=ast.Store()) | ast.Subscript(ctx=ast.Store()):
                    pass
                case _:
                    continue
            while isinstance(place, ast.Subscript):
                place = place.value
            if isinstance(place, ast.Attribute) and isinstance(place.value, ast.Name) and root_name(place) == own:
                found.add(place.attr)
    return found


@lru_cache(maxsize=64)
def _read_elsewhere(program: Program, node: ast.ClassDef) -> Set[str]:
    """A cache that the data set alone looks at is no number of anybody's."""
    own = {*walk(node)}
    return {n.attr for n in program.nodes if isinstance(n, ast.Attribute) and n not in own}
