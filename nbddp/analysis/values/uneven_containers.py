"""Lists and dictionaries that may hold more on one rank than on another: each puts things in for its own share."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from nbddp.analysis.values.domain import Extent, Obj, Value
from nbddp.analysis.values.facts import Facts

DEPTH = 4  # of iterators over iterators
SIZE = "[size]"


def note_size(facts: Facts, holders: Iterable[Obj]) -> None:
    for obj in holders:
        facts.fields[obj, SIZE] = Value(extent=Extent.VARYING)


def is_uneven(facts: Facts, value: Value, depth: int = 0) -> bool:
    """Also of what goes through it: `enumerate(large)`, `by_class.items()`."""
    sizes = (facts.fields.get((o, SIZE)) for o in value.of("list", "dict"))
    if any(size is not None and size.varies for size in sizes):
        return True
    inner = [v for o in value.of("iterator") if (v := facts.fields.get((o, "of"))) is not None]
    return depth < DEPTH and any(is_uneven(facts, v, depth + 1) for f in inner for v in (f, *(f.items or ())))


def is_of_own_choice(facts: Facts, call: ast.Call) -> bool:
    """`by_class[label].append(…)`, `by_class.setdefault(label, []).append(…)`: which list it is, each rank knows."""
    match call.func:
        case ast.Attribute(value=ast.Subscript(slice=key)):
            return facts.value(key).varies
        case ast.Attribute(value=ast.Call(func=ast.Attribute(attr="setdefault" | "get"), args=[key, *_])):
            return facts.value(key).varies
    return False
