"""All nodes of a tree, walked once however often a part of it is asked for: the walks were a fifth of an export."""

from __future__ import annotations

import ast
from typing import NamedTuple, TypeGuard

PLACE = "_place"  # the attribute that a node keeps it in
SHARED = (ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop)  # one object in the trees of all programs


class Place(NamedTuple):
    """Where a node and all that is inside it stand in a list of a whole tree."""

    nodes: list[ast.AST]
    start: int
    end: int


def walk(node: ast.AST) -> list[ast.AST]:
    """The node and all inside it, as they stand in the text. What is shared (`Load()`, `Add()`) is left out.

    For trees that nobody changes.
    """
    place: Place | None = node.__dict__.get(PLACE)
    while place is None:
        _number(node)
        place = node.__dict__[PLACE]
    return place.nodes[place.start : place.end]


def _number(root: ast.AST) -> None:
    nodes: list[ast.AST] = []
    waiting: list[ast.AST | tuple[ast.AST, int]] = [root]
    while waiting:
        node = waiting.pop()
        if isinstance(node, tuple):
            done, start = node
            done.__dict__[PLACE] = Place(nodes, start, len(nodes))
            continue
        waiting.append((node, len(nodes)))
        nodes.append(node)
        waiting += [child for child in ast.iter_child_nodes(node) if not isinstance(child, SHARED)][::-1]


def names_in(node: ast.AST) -> set[str]:
    return {n.id for n in walk(node) if isinstance(n, ast.Name)}


def is_name(node: ast.AST, name: str) -> TypeGuard[ast.Name]:
    return isinstance(node, ast.Name) and node.id == name


def returns_none(function: ast.AST) -> bool:
    """At some `return`; also `return None, None`."""
    returned = (node.value for node in walk(function) if isinstance(node, ast.Return))
    given = (value.elts if isinstance(value, ast.Tuple) else [value] for value in returned)
    return any(all(v is None or (isinstance(v, ast.Constant) and v.value is None) for v in values) for values in given)
