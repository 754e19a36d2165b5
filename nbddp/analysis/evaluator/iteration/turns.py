"""What a loop gets at each turn: batches of loaders, items of containers, what generators of the notebook yield."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence, Set
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import lru_cache, reduce

from nbddp.analysis.evaluator.classes import class_member
from nbddp.analysis.evaluator.iteration.batches import is_packed, note_items_read, of_the_share, put_together
from nbddp.analysis.evaluator.iteration.one_sample import goes_through_samples, place_of_sample, side_by_side
from nbddp.analysis.library import Gives, effect_of
from nbddp.analysis.values import (
    ANYTHING,
    EACH,
    ITEMS,
    OF_A_PART,
    PICKED,
    PLACED,
    PLACES,
    SOURCES,
    TURNED,
    TURNS,
    WHOLE,
    Extent,
    Frame,
    Machine,
    Obj,
    Several,
    Value,
    chosen_by,
    contents,
    is_uneven,
    join,
    join_all,
    join_extent,
    marked,
    single,
    some_by_place,
    sources,
    spread,
    thing,
    turns_of,
)

Definition = ast.FunctionDef | ast.AsyncFunctionDef
SHAPES = "shapes"  # a field of data sets: of what batches have from each of their tensors
BATCHES = "batches"  # what a counter counts
ITEM = "items of a list"  # which may have been turned round
DEEPEST = 6  # `tqdm(enumerate(zip(a, b)))`


@lru_cache(maxsize=1024)  # asked at each call
def yields(node: ast.AST) -> bool:
    """Does a function yield, itself and not in one that it defines?"""
    todo = list(ast.iter_child_nodes(node))
    while todo:
        part = todo.pop()
        if isinstance(part, ast.Yield | ast.YieldFrom):
            return True
        if not isinstance(part, Definition | ast.Lambda | ast.ClassDef):
            todo.extend(ast.iter_child_nodes(part))
    return False


def generated(m: Machine, frame: Frame, owner: Obj | None, drawn: set[Obj]) -> Value:
    """What calling a generator function gives: what it yields comes when it is iterated."""
    assert frame.node is not None
    made = thing("generator", frame.node, "", only(drawn) or owner, frame.call)
    for obj in made.objs:
        m.put(obj, "[]", frame.returned or ANYTHING)
        m.facts.fields[obj, TURNS] = Value(extent=frame.turns)
        m.put(obj, "draws", Value(frozenset(drawn)))
    return made


def only(loaders: Set[Obj]) -> Obj | None:
    """By which it is told apart what goes through loaders: a loop may train on one, and watch another."""
    return next(iter(loaders)) if len(loaders) == 1 else None


def give(m: Machine, value: Value, turns: Iterable[Extent] = ()) -> Value:
    """Yield it: as often as a loop of the generator comes there. It comes to what `send` gives it."""
    frame, now, around = m.frame, m.context, m.frame.around or m.context
    frame.returned = value if frame.returned is None else join(frame.returned, value)
    samples = now.varying and not around.varying
    own = Extent.VARYING if now.own_turns and not around.own_turns else Extent.SAMPLES if samples else Extent.UNIFORM
    frame.turns = reduce(join_extent, turns, join_extent(frame.turns, own))
    return (m.get(sent_to(frame.node), "[]") if frame.node is not None else None) or ANYTHING


def sent_to(body: ast.AST) -> Obj:
    """What a generator is given by `send`."""
    return Obj("sent", body)


def taken_from(m: Machine, iterable: Value, depth: int = 0) -> Iterator[Extent]:
    """Of what a loop goes through: as many as are written out there are on all ranks, whatever they are."""
    rows = Extent.UNIFORM if iterable.of(TURNED) else iterable.extent  # `x.t()` has one for each feature
    rows = Extent.SAMPLES if rows in WHOLE and iterable.of(EACH) else rows  # `[row * 2 for row in x]`
    yield Extent.VARYING if some_by_place(iterable) else rows
    yield from (turns_of(m.facts, obj) for obj in iterable.of("generator"))
    for obj in iterable.of("iterator") if depth < DEEPEST else ():
        inner = m.get(obj, "of") or ANYTHING
        for one in (inner.items or ()) if obj.name == "zip" else (inner,):
            yield from taken_from(m, one, depth + 1)


def own_iterator(m: Machine, obj: Obj) -> Value | None:
    """What `iter()` of an instance of the notebook's class gives; None where it cannot be gone through."""
    known = m.get(obj, "__iter__()")
    owner = m.facts.classes.get(obj)
    if known is not None or owner is None or obj.kind != "instance":
        return known
    m.put(obj, "__iter__()", ANYTHING)  # it may ask for itself
    result = _call(m, owner, obj, "__iter__")
    if result is not None and obj in result.objs:
        result = _call(m, owner, obj, "__next__")
    if result is None:  # turn by turn what it has at 0, 1, 2
        result = _call(m, owner, obj, "__getitem__", [ANYTHING])
    if result is None:
        return None
    m.facts.fields[obj, "__iter__()"] = result
    return result


def _call(m: Machine, owner: ast.ClassDef, obj: Obj, name: str, given: Sequence[Value] = ()) -> Value | None:
    method = class_member(m, owner, name, obj)
    return join_all(m.steps.function(m, o, [*given], {}, None) for o in method.of("method")) if method else None


def is_cut(m: Machine, value: Value) -> bool:
    """May a loop over it see other batches than the loader draws, or not all of them?"""
    things = {o for v in sources(m.facts, value) for o in v.of("generator", "instance", "iterator")}
    return any(o.kind != "iterator" or effect_of(o.name).gives is Gives.SOME for o in things)


def is_indirect(m: Machine, value: Value) -> bool:
    """May a loop over it be less than a pass over the loader, or more?"""
    things = {o for v in sources(m.facts, value) for o in v.of("generator", "iterator") if o.name != "zip"}
    return any(o.kind == "generator" or effect_of(o.name).gives is Gives.SOME for o in things)


FEW = 8


def literal_elements(m: Machine, iterable: Value) -> list[Value]:
    """The elements in their order; none where they are not known or too many."""
    found = written_elements(m, iterable)
    return found if len(found) <= FEW and all(element_key(v).const is not None for v in found) else []


def element_key(value: Value) -> Value:
    return value.items[0] if value.items else value


def written_elements(m: Machine, iterable: Value) -> list[Value]:
    if not iterable.objs:
        return list(iterable.items or ())
    if len(iterable.objs) > 1:
        return []
    (obj,) = iterable.objs
    if obj.kind == "list" and isinstance(obj.node, ast.List):
        values = [m.facts.value(e) for e in obj.node.elts]
        return values if m.elements(iterable) == join_all(values) else []  # and nothing was appended since
    if obj.kind == "dict":
        return [Value(const=key) for key in _keys(m, obj)]
    if obj.kind == "iterator" and obj.name == "items":
        (held, *others) = (m.get(obj, "of") or ANYTHING).of("dict") or [obj]
        if not others and held is not obj:
            return [Value(items=(Value(const=k), m.get(held, f"[{k!r}]") or ANYTHING)) for k in _keys(m, held)]
    return []


def _keys(m: Machine, obj: Obj) -> list[str]:
    """The keys of a dictionary that is written out, where all are strings."""
    if isinstance(obj.node, ast.Dict):
        keys = [k.value for k in obj.node.keys if isinstance(k, ast.Constant) and isinstance(k.value, str)]
        return keys if len(keys) == len(obj.node.keys) else []
    if isinstance(obj.node, ast.DictComp):
        return [field[2:-2] for field, _ in m.facts.fields.of(obj) if field.startswith("['")]
    return []


def parts(m: Machine, value: Value) -> set[Obj]:
    """Modules in a value, also in lists and dictionaries."""
    return {o for v in contents(m.facts, value) for o in v.of("model")}


def iterate(m: Machine, value: Value, node: ast.AST) -> Value:
    """What one turn of a loop over the value gets."""
    result: Value | None = None

    def put(found: Value) -> None:
        nonlocal result
        result = found if result is None else join(result, found)

    for obj in value.objs:
        if obj.kind == "loader":
            made = put_together(m, obj)
            note_items_read(m, obj)
            batch = ANYTHING if obj in m.assumed.alike else Value(extent=Extent.SAMPLES)
            torchs_own = m.get(obj, "collate_fn") is None
            shape = _shapes_of_batches(m, m.get(obj, "dataset") or ANYTHING) if torchs_own else None
            batch = replace(batch, shape=shape)
            put(
                batch
                if made is None
                else made
                if is_packed(made)
                else of_the_share(m, made, batch, m.get(obj, "collate_fn") or ANYTHING)
            )
        elif obj.kind == "iterator":
            put(_iterate_wrapper(m, obj, node))
        elif (made := own_iterator(m, obj)) is not None:
            put(iterate(m, made, node))
        elif obj.kind in ("params", "submodule"):
            part = thing("parameter" if obj.kind == "params" else "submodule", obj.node, "", obj.owner)
            put(Value(items=(ANYTHING, part)) if obj.name == "named_parameters" else part)
        elif obj.kind == "dict":  # its keys
            put(Value(extent=Extent.VARYING if is_uneven(m.facts, Value(frozenset({obj}))) else Extent.UNIFORM))
        elif (inner := m.get(obj, "[]")) is not None:
            by_loop = isinstance(node, ast.For | ast.AsyncFor | ast.comprehension)
            put(inner if by_loop or not m.gives_all(obj) else inner.with_extent(Extent.REPEATED))
    for item in value.items or ():
        put(item)
    if result is None:
        if value.of("dataset"):
            return ANYTHING
        row = value.shape[1:] if isinstance(value.shape, tuple) and value.shape else None
        # a row is a part of the array
        each = Value(value.of(*OF_A_PART), spread(value), arrays=value.arrays, shape=row)
        return single(each, node) if goes_through_samples(m, value, node) else each
    extent, arrays = join_extent(result.extent, value.extent), result.arrays | value.arrays
    return Value(result.objs, extent, result.items, result.const, arrays=arrays, shape=result.shape)


def _shapes_of_batches(m: Machine, holder: Value, depth: int = 0) -> Several | None:
    """Of batches from a `TensorDataset`, perhaps of a part of one."""
    found = set[Several | None]()
    for obj in holder.objs if depth < DEEPEST else ():
        kept, source = m.get(obj, SHAPES), m.get(obj.owner or obj, "source")
        shapes = kept.shape if kept else _shapes_of_batches(m, source or ANYTHING, depth + 1)
        found.add(shapes if isinstance(shapes, Several) else None)
    return found.pop() if len(found) == 1 else None


def _iterate_wrapper(m: Machine, obj: Obj, node: ast.AST) -> Value:
    inner = m.get(obj, "of") or ANYTHING
    match obj.node:
        case ast.Call(args=[ast.Starred(value=rows)]) if obj.name == "zip" and m.facts.value(rows).of(EACH, PICKED):
            return m.facts.value(rows)  # `xs, ys = zip(*batch)`: something of each sample again
    if obj.name == "zip":
        return Value(items=side_by_side([*_beside(m, obj.node, inner.items or (), node)]))
    if obj.name == "items":
        layers = inner.of("model", "submodule")
        return Value(items=(ANYTHING, iterate(m, Value(layers), node) if layers else m.elements(inner)))
    element = iterate(m, inner, node)
    if obj.name == "enumerate":
        counts = ITEM if _may_be_others(m, inner) else BATCHES if loaders_in(m, inner) else ""
        counter = replace(thing("counter", obj.node, counts), number=True)
        own = Extent.SAMPLES in taken_from(m, inner) and counts != ITEM  # the place of each sample
        return Value(
            items=(marked(marked(counter.with_extent(Extent.SAMPLES), PLACED), PLACES) if own else counter, element)
        )
    return element


def _may_be_others(m: Machine, rows: Value) -> bool:
    """`[row for row in x if row.sum() > 0]`, `list(reversed(rows))`: the first need not be the first sample."""
    names = {o.name for o in rows.of("iterator")}
    inside = (m.get(o, "of") or ANYTHING for o in rows.of("iterator") if o.name in ("list", "tuple", "iter"))
    listed = rows.of(EACH) or (rows.of("list") and rows.of(PICKED))
    return bool(listed or names & {"reversed", "filter"}) or any(_may_be_others(m, v) for v in inside)


def _beside(m: Machine, zipped: ast.AST, given: Sequence[Value], node: ast.AST) -> Iterator[Value]:
    """Of `zip(range(len(x)), x)` the place of a sample, and the sample."""
    sources = zipped.args if isinstance(zipped, ast.Call) and len(zipped.args) == len(given) else [zipped] * len(given)
    for source, value in zip(sources, given, strict=True):
        yield counted_sample(m, source) if counts_samples(m, source) else iterate(m, value, node)


def loaders_in(m: Machine, value: Value) -> set[Obj]:
    """Loaders of which iterating the value draws a share."""
    return drawn_from(m, value) - m.assumed.alike


def drawn_from(m: Machine, value: Value) -> set[Obj]:
    found = set[Obj]()
    for source in sources(m.facts, value, {**SOURCES, "generator": "draws", "instance": "__iter__()"}):
        found |= source.of("loader")
        for obj in source.of("instance"):
            own_iterator(m, obj)  # which is looked into next
    return found


def params_in(m: Machine, value: Value) -> frozenset[Obj]:
    """The modules whose parameters a value holds; parameters that belong to none as they are."""
    inside = contents(m.facts, value, {**ITEMS, **SOURCES})
    return frozenset(o.owner or o for v in inside for o in v.of("params", "parameter"))


def _counted(m: Machine, source: ast.AST) -> list[ast.expr]:
    """`n` of `range(n)`, also of `enumerate(range(n))`."""
    if not isinstance(source, ast.Call) or not m.facts.counts(source):
        return []
    return _counted(m, source.args[0]) if source.args and m.facts.counts(source.args[0]) else source.args


def counts_samples(m: Machine, source: ast.AST) -> bool:
    """`range(len(x))`: the place of each sample, as `enumerate(x)` has it; or of some, `range(1, len(x), 2)`."""
    return any(_sized(m, n) for n in _counted(m, source))


def counted_sample(m: Machine, source: ast.AST) -> Value:
    """Which of them a turn has, by what the loop counts; where it leaves some out, `x[k]` is not that of each turn."""
    match _counted(m, source):
        case [size] | [ast.Constant(value=0), size] if m.facts.value(size).size:
            return place_of_sample()
    place = place_of_sample()
    return replace(place, objs=place.objs - place.of(PLACES))


def _sized(m: Machine, node: ast.expr) -> bool:
    """`len(x)`, `len(x) - 1`"""
    sides = (node.left, node.right) if isinstance(node, ast.BinOp) else ()
    return m.facts.value(node).size or any(_sized(m, side) for side in sides)


def for_each_sample(m: Machine, source: ast.expr) -> bool:
    """`for row in x`, `for i in range(len(x))`: as many turns as a rank has samples of a batch."""
    rows = m.facts.value(source)
    gone_through = Extent.SAMPLES in taken_from(m, rows) and not loaders_in(m, rows)
    return gone_through or counts_samples(m, source)


def as_often_as(m: Machine, iterable: Value, source: ast.expr) -> AbstractContextManager[None]:
    """As a thing has items: may it differ between ranks, and are they others than samples and what a rank counts?"""
    found = {*taken_from(m, iterable)} - {*WHOLE}
    counts = {spread(m.facts.value(n)) for n in _counted(m, source)}
    if found & {Extent.MEAN, Extent.VARYING} and not (counts and counts <= {*WHOLE, Extent.SUM}):
        return chosen_by(m, Value(extent=Extent.VARYING))
    return m.within(varying=m.context.varying or bool(found), behind=m.context.behind and not found)
