"""Which names a function or a class has for itself, and from which name an expression starts."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterable, Iterator

from nbddp.analysis.syntax import bindings, walk

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


def root_name(node: ast.expr) -> str | None:
    """`a` of `a.b[c].d()`; what a call chain starts from."""
    while True:
        if isinstance(node, ast.Name):
            return node.id
        if isinstance(node, ast.Attribute | ast.Subscript | ast.Starred):
            node = node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            node = node.func.value
        else:
            return None


def all_arguments(args: ast.arguments) -> list[ast.arg]:
    extra = [a for a in (args.vararg, args.kwarg) if a]
    return [*args.posonlyargs, *args.args, *args.kwonlyargs, *extra]


def defaults(given: ast.arguments) -> Iterator[tuple[ast.arg, ast.expr]]:
    """Arguments that need not be given, and what they are then."""
    by_place = [*given.posonlyargs, *given.args]
    yield from zip(by_place[len(by_place) - len(given.defaults) :], given.defaults, strict=True)
    yield from ((a, d) for a, d in zip(given.kwonlyargs, given.kw_defaults, strict=True) if d is not None)


def bound_names(nodes: Iterable[ast.AST]) -> set[str]:
    """Names that statements bind in their own scope, not in inner functions, classes and comprehensions."""
    found: set[str] = set()
    todo = list(nodes)
    while todo:
        node = todo.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
            todo.extend(node.decorator_list)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            found.update(name for name, _ in bindings(node))
        elif isinstance(node, ast.ExceptHandler) and node.name:
            found.add(node.name)
            todo.extend(ast.iter_child_nodes(node))
        elif isinstance(node, ast.MatchAs | ast.MatchStar) and node.name:
            found.add(node.name)
            todo.extend(ast.iter_child_nodes(node))
        elif isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            todo.extend(n for n in walk(node) if isinstance(n, ast.NamedExpr))
        elif not isinstance(node, ast.Lambda):
            todo.extend(ast.iter_child_nodes(node))
    return found


@functools.lru_cache(maxsize=1024)
def local_names(node: Function) -> frozenset[str]:
    """Names that a function keeps to itself; asked for again and again, of every name in reach."""
    names = frozenset(a.arg for a in all_arguments(node.args))
    if isinstance(node, ast.Lambda):
        return names
    outer = {n for s in walk(node) if isinstance(s, ast.Global | ast.Nonlocal) for n in s.names}
    return (names | bound_names(node.body)) - outer
