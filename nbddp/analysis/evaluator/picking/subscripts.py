"""What stands at a place: of a list, a dictionary, a tuple, a model, a batch."""

from __future__ import annotations

import ast

from nbddp.analysis.evaluator.calls import instance
from nbddp.analysis.evaluator.classes import by_class, own_methods, run_methods
from nbddp.analysis.evaluator.picking.samples import cut_to_size, end_by_size, picked
from nbddp.analysis.evaluator.tensors import like, samples_at
from nbddp.analysis.evaluator.writes import put_element
from nbddp.analysis.values import (
    ANYTHING,
    Extent,
    Machine,
    Obj,
    Value,
    domain,
    is_uneven,
    join,
    note_size,
    spread,
    thing,
)

UNKNOWN_KEY = "[any]"  # of a dictionary from which an item was taken by a key that is not known


def make_what_it_lacks(m: Machine, base: Value, index: Value) -> None:
    """`meters["loss"]` of `defaultdict(Meter)`: what it counts is not what the one of another key counts.

    Unless a key that is not known has come before: that may have been this one. A class may say what it lacks itself.
    """
    run_methods(m, own_methods(m, base, "__missing__"), [index])
    for obj in base.of("dict"):
        fact = m.facts.calls.get(obj.node) if isinstance(obj.node, ast.Call) else None
        if fact is None or "collections.defaultdict" not in fact.names or not fact.node.args:
            continue
        if index.const is None:
            m.facts.fields[obj, UNKNOWN_KEY] = ANYTHING
        elif m.get(obj, f"[{index.const!r}]") is None and m.get(obj, UNKNOWN_KEY) is None:
            for made_by in m.facts.value(fact.node.args[0]).of("class"):
                key = Obj("key", fact.node, repr(index.const))
                put_element(m, Value(frozenset({obj})), instance(m, fact.node, made_by, [], {}, key), index.const)


def _are_known(m: Machine, found: Value | None) -> bool:
    """Models of the notebook's own classes, or a list of such."""
    parts = found.objs if found is not None else ()
    return bool(parts) and all(o in m.facts.classes or _holds_known(m, o) for o in parts)


def _holds_known(m: Machine, holder: Obj) -> bool:
    return holder.kind == "model" and _are_known(m, m.get(holder, "[]"))


def _some_of_each(m: Machine, obj: Obj, node: ast.Subscript) -> Value | None:
    """`self.seen[-1000:]`, of a list with something for each sample: on each rank as many of its own.

    `kept[: len(x)]`, of one that all ranks have: the first ones on each.
    """
    inside = m.get(obj, "[]") if obj.kind == "list" else None
    if inside is not None and m.held(inside) in domain.WHOLE and end_by_size(m, [node.slice]) is not None:
        inside = domain.marked(inside.with_extent(Extent.SAMPLES), domain.PLACED)
    elif inside is None or not (inside.varies and inside.of(domain.ONE)):
        return None
    some = m.make("list", node)
    put_element(m, some, inside)
    note_size(m.facts, some.objs)
    return some


def _is_found_apart(m: Machine, base: Value, index: Value, node: ast.Subscript) -> bool:
    """`X[found]`, `found[-1]` of `found = [i for i in range(n) if errors[i] > limit]`: as many as a rank finds."""
    one = not isinstance(node.slice, ast.Slice) and m.elements(base).number and is_uneven(m.facts, base)
    return one or bool(index.of("list") and is_uneven(m.facts, index))


def _of_optimizers(m: Machine, base: Value, index: Value, node: ast.Subscript) -> Value:
    """`group["params"]`: nothing else has such an item, and any optimizer may be meant."""
    if index.const != "params" or base.objs or base.varies:
        return ANYTHING
    held = (v for (obj, name), v in m.facts.fields.items() if obj.kind == "optimizer" and name == "params")
    return Value(frozenset(Obj("params", node, "parameters", owner) for v in held for owner in v.objs))


def subscript(m: Machine, base: Value, index: Value, node: ast.Subscript) -> Value:
    if (own := by_class(m, base, "getitem", [index])) is not None:
        return own
    if base.of("shape"):
        first = index.const == samples_at(base) or (index.const is None and not isinstance(node.slice, ast.Slice))
        return m.size(base) if first and base.varies else Value(number=True)
    if base.items is not None and isinstance(index.const, int) and -len(base.items) <= index.const < len(base.items):
        return base.items[index.const]
    found: Value | None = None
    for obj in base.objs:
        if isinstance(node.slice, ast.Slice):
            some = _some_of_each(m, obj, node) or base
            found = some if found is None else join(found, some)
            continue
        exact = m.get(obj, f"[{index.const!r}]") if index.const is not None else None
        value = exact if exact is not None else m.get(obj, "[]")
        if value is not None:
            found = value if found is None else join(found, value)
    if base.of("model", "submodule") and not _are_known(m, found):  # model[0]: a part of the model
        root = next(iter(base.of("model", "submodule")))
        part = thing("submodule", node, "[]", root.owner or root)
        found = part if found is None else join(found, part)
    result = found or (m.elements(base) if base.items else _of_optimizers(m, base, index, node))
    extent = domain.join_extent(spread(result), base.extent)
    cut = cut_to_size(m, base, node) if extent in domain.WHOLE else None
    if index.varies and extent in domain.WHOLE:
        extent = spread(index) if spread(index) is Extent.SAMPLES else Extent.VARYING
    if extent in domain.WHOLE and _is_found_apart(m, base, index, node):
        extent = Extent.VARYING
    by_place = index.of(domain.PLACED) if index.of(domain.PLACES) and not base.varies else frozenset()  # `table[i]`
    objs = result.objs | base.of(*domain.OF_A_PART) | by_place
    if cut is not None:  # `table[: len(x)]`: the first ones on each rank
        return domain.marked(domain.placed(Value(objs, Extent.SAMPLES), domain.TURNED if cut else ""), domain.PLACED)
    found = Value(
        objs, extent, result.items, result.const, result.sources, arrays=result.arrays | base.arrays, shape=result.shape
    )
    if spread(index) is Extent.SAMPLES and extent not in (*domain.WHOLE, Extent.SAMPLES):
        return domain.marked(found.with_extent(Extent.VARYING), domain.STATISTIC)  # of those that a rank has seen
    return like(found, [base]) if isinstance(base.shape, domain.Several) else picked(m, found, base, index, node)
