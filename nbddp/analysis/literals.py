"""Loops over a few literals, `for phase in ["train", "val"]`: each turn is known, and run for itself."""

from __future__ import annotations

import ast

from nbddp.analysis.domain import ANYTHING, Obj, Value, join_all
from nbddp.analysis.machine import Machine

FEW = 8


def literal_elements(m: Machine, iterable: Value) -> list[Value]:
    """The elements in their order; none where they are not known or too many."""
    found = _elements(m, iterable)
    return found if len(found) <= FEW and all(_key(v).const is not None for v in found) else []


def _key(value: Value) -> Value:
    return value.items[0] if value.items else value


def _elements(m: Machine, iterable: Value) -> list[Value]:
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
        return [field[2:-2] for (owner, field) in m.facts.fields if owner == obj and field.startswith("['")]
    return []
