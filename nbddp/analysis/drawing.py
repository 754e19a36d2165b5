"""Code of the notebook that hands batches on: generators, and classes that iterate over a loader."""

from __future__ import annotations

import ast

from nbddp.analysis.attributes import class_member
from nbddp.analysis.domain import ANYTHING, Obj, Value, join_all, thing
from nbddp.analysis.machine import Frame, Machine

Definition = ast.FunctionDef | ast.AsyncFunctionDef
CUTTING = ("zip", "itertools.islice", "itertools.cycle", "itertools.takewhile", "itertools.zip_longest")


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
    made = thing("generator", frame.node, "", owner, frame.call)
    for obj in made.objs:
        m.put(obj, "[]", frame.returned or ANYTHING)
        m.put(obj, "draws", Value(frozenset(drawn)))
    return made


def own_iterator(m: Machine, obj: Obj) -> Value | None:
    """What `iter()` of an instance of the notebook's class gives; None where the class has no `__iter__`."""
    known = m.get(obj, "__iter__()")
    owner = m.facts.classes.get(obj)
    if known is not None or owner is None or obj.kind != "instance":
        return known
    m.put(obj, "__iter__()", ANYTHING)  # it may ask for itself
    result = _call(m, owner, obj, "__iter__")
    if result is not None and obj in result.objs:
        result = _call(m, owner, obj, "__next__")
    if result is None:
        return None
    m.facts.fields[obj, "__iter__()"] = result
    return result


def _call(m: Machine, owner: ast.ClassDef, obj: Obj, name: str) -> Value | None:
    method = class_member(m, owner, name, obj)
    return join_all(m.run(m, o, [], {}, None) for o in method.of("method")) if method else None


def is_cut(m: Machine, value: Value, depth: int = 0) -> bool:
    """May a loop over it see other batches than the loader draws, or not all of them?"""
    if value.of("generator", "instance"):
        return True
    for obj in value.of("iterator"):
        if obj.name in CUTTING or (depth < 6 and is_cut(m, m.get(obj, "of") or ANYTHING, depth + 1)):
            return True
    return False


def is_indirect(m: Machine, value: Value, depth: int = 0) -> bool:
    """May a loop over it be less than a pass over the loader, or more?"""
    if value.of("generator"):
        return True
    for obj in value.of("iterator"):
        cuts = obj.name in CUTTING and obj.name != "zip"
        if cuts or (depth < 6 and is_indirect(m, m.get(obj, "of") or ANYTHING, depth + 1)):
            return True
    return False
