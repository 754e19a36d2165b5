"""Names that what is watched in a function looks at, and that are variables of `train`.

In the notebook they are global. In the script `train` keeps what no function reads to itself; where something is
watched in a function, the tree, and not the text, lets that function see it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from nbddp.run.watching.places import Found, expressions, names_of
from nbddp.run.watching.written import at_place

Function = ast.FunctionDef | ast.AsyncFunctionDef


def share_names(tree: ast.Module, found: Iterable[Found]) -> None:
    """Declare them global in `train`; as names of the module that are bound there, as an earlier training left them."""
    home = next((s for s, watches in found if isinstance(s, Function) and "result" in {w.kind for w in watches}), None)
    if home is None:
        return
    known = _bound(tree.body)
    asked: set[str] = set()
    for function in _others(tree, home):
        inside = {id(node) for node in ast.walk(function)}
        for statement, watches in found:
            if id(statement) in inside and statement is not function:
                asked |= {n for w in watches for text in expressions(w) for n in names_of(text)} - _own(function)
    own = _bound(home.body)
    left = {name for _, watches in found for w in watches if w.kind == "left" for name in w.names}
    shared = sorted(((asked & own) - known | (left & known) - own) - {argument.arg for argument in ast.walk(home.args)
                                                                      if isinstance(argument, ast.arg)})  # fmt: skip
    if shared:
        place = 1 if ast.get_docstring(home) is not None else 0
        home.body.insert(place, at_place(ast.Global(names=shared), home))


def _others(tree: ast.Module, home: ast.stmt) -> list[Function]:
    """Functions and methods of the module."""
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    bodies = [tree.body, *(node.body for node in classes)]
    return [node for body in bodies for node in body if isinstance(node, Function) and node is not home]


def _own(function: Function) -> set[str]:
    names = {node.arg for node in ast.walk(function) if isinstance(node, ast.arg)}
    return names | _bound(function.body)


def _bound(body: Iterable[ast.stmt]) -> set[str]:
    """What these statements bind, those within functions and classes aside; what is global there is bound elsewhere."""
    names: set[str] = set()
    declared: set[str] = set()
    waiting: list[ast.AST] = list(body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.Global):
            declared.update(node.names)
        elif isinstance(node, ast.alias):
            names.add((node.asname or node.name).partition(".")[0])
        if not isinstance(node, ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            waiting += ast.iter_child_nodes(node)
    return names - declared
