"""Methods of the notebook's classes that change what they are called on, whatever their names promise."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from nbddp.analysis.library import Effect, effect_of
from nbddp.analysis.syntax import walk

ASKED = ("__init__", "__new__", "__post_init__", "__call__", "__setitem__", "__delitem__", "__setattr__")


def changing_methods(nodes: Iterable[ast.AST]) -> frozenset[str]:
    """By name: `split` that stores `self.train`, `encode` that adds to `self.words`, or calls one that does."""
    parts = [part for node in nodes if isinstance(node, ast.ClassDef) for part in node.body]
    defined = [p for p in parts if isinstance(p, ast.FunctionDef | ast.AsyncFunctionDef) and p.args.args]
    found = {m.name for m in defined if _changes_its_object(m)}
    calls = [(m.name, _called(m)) for m in defined]
    while more := {name for name, called in calls if called & found} - found:
        found |= more
    return frozenset(found)


def changes_unasked(classes: Iterable[ast.ClassDef]) -> bool:
    """Do methods that nobody names change their object: `__getitem__` that counts, a property that stores?"""
    classes = [*classes]
    changing = changing_methods(classes) | {"__next__"}
    methods = [part for one in classes for part in one.body if isinstance(part, ast.FunctionDef)]
    return any(m.name in changing and m.name not in ASKED and (m.name[:2] == "__" or _is_read(m)) for m in methods)


def _is_read(method: ast.FunctionDef) -> bool:
    """A property."""
    words = {getattr(d, "id", getattr(d, "attr", "")) for d in method.decorator_list}
    return not words.isdisjoint({"property", "cached_property"})


def changed_by_calls(nodes: Iterable[ast.AST]) -> frozenset[str]:
    """Variables that hold an object which changes when it is called: `stop` of `if stop(loss): break`.

    Or a function made by another, which may change what that was given: `step = make_step(model)`.
    """
    parts = [part for node in nodes for part in walk(node)]
    classes = {p.name for p in parts if isinstance(p, ast.ClassDef) and "__call__" in changing_methods([p])}
    classes |= {p.name for p in parts if isinstance(p, ast.FunctionDef) and _gives_a_function(p)}
    found = set[str]()
    for part in parts:
        match part:
            case ast.Assign(targets=targets, value=ast.Call(func=ast.Name(id=name))) if name in classes:
                found.update(t.id for t in targets if isinstance(t, ast.Name))
    return frozenset(found)


def _gives_a_function(maker: ast.FunctionDef) -> bool:
    inside = {p.name for p in walk(maker) if isinstance(p, ast.FunctionDef)} - {maker.name}
    returned = (p.value for p in walk(maker) if isinstance(p, ast.Return))
    return any(isinstance(value, ast.Name) and value.id in inside for value in returned)


def _changes_its_object(method: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    own = method.args.args[0].arg
    if any(getattr(d, "attr", getattr(d, "id", "")) == "cached_property" for d in method.decorator_list):
        return True
    for node in walk(method):
        if isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
            if _starts_with(node, own):
                return True
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            word, at = node.func.attr, node.func.value
            op = effect_of(f".{word}")
            filled = op.effect in (Effect.STORES, Effect.REORDERS) or word == "write" or bool(op.draws)
            stores = filled or (word.endswith("_") and not word.endswith("__"))
            if stores and _starts_with(at, own):
                return True
    return False


def _starts_with(node: ast.expr, name: str) -> bool:
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return isinstance(node, ast.Name) and node.id == name


def _called(method: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    """`self.add(word)`."""
    own = method.args.args[0].arg
    calls = (n.func for n in walk(method) if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute))
    return {f.attr for f in calls if isinstance(f.value, ast.Name) and f.value.id == own}
