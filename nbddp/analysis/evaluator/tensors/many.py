"""Tensors of any number of dimensions: what becomes of them holds, where it does so for two numbers that are tried."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from nbddp.analysis.values import AsMany, Dimensions, Machine, Several, Sizes, Value

TRIED = (8, 9)  # more than anyone names


def sizes_of(m: Machine, value: Value) -> Sizes | Several | None:
    """Those of a value; of a tensor of any number of dimensions, as many as are tried."""
    if isinstance(value.shape, AsMany):
        return (value.shape.first, *(None,) * (m.dimensions + value.shape.more - 1)) if m.dimensions else None
    return value.shape


def of_any(m: Machine, node: ast.expr, found: Callable[[], Dimensions]) -> Dimensions:
    """What is found of a node, of whose parts one kind may have any number of dimensions."""
    kinds = {shape.of for one in _parts(node) if isinstance(shape := m.facts.value(one).shape, AsMany)}
    if len(kinds) != 1:
        return found()
    kind = AsMany(kinds.pop())
    tried = []
    for many in TRIED:
        with _taken(m, many):
            tried.append(found())
    few, more = tried
    if isinstance(few, Several) and isinstance(more, Several) and len(few.of) == len(more.of):
        each = (_alike(kind, *both) for both in zip(few.of, more.of, strict=True))
        return Several(tuple(each))
    return few if few == more else _alike(kind, few, more)


def _alike(kind: AsMany, few: Dimensions, more: Dimensions) -> Sizes | AsMany | None:
    if not (isinstance(few, tuple) and isinstance(more, tuple)):
        return None
    if len(few) == len(more):
        return tuple(a if a == b else None for a, b in zip(few, more, strict=True))
    return AsMany(kind.of, len(few) - TRIED[0], few[0] if few[:1] == more[:1] else None)


@contextmanager
def _taken(m: Machine, many: int) -> Iterator[None]:
    m.dimensions, around = many, m.dimensions
    yield
    m.dimensions = around


def measured(node: ast.expr) -> ast.expr | None:
    """Of `x.shape`, `*x.size()`, the tensor."""
    match node:
        case ast.Starred(value=ast.expr() as inner):
            return measured(inner)
        case (
            ast.Attribute(value=tensor, attr="shape") | ast.Call(func=ast.Attribute(value=tensor, attr="size"), args=[])
        ):
            return tensor
    return None


def _parts(node: ast.expr) -> Iterator[ast.expr]:
    """What its dimensions hang on."""
    alike = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr.endswith("_as")
    for child in node.args if isinstance(node, ast.Call) and alike else ast.iter_child_nodes(node):
        if isinstance(node, ast.Call) and child is node.func:
            yield from (one for one in ast.iter_child_nodes(child) if isinstance(one, ast.expr))
        elif isinstance(child, ast.keyword):
            yield child.value
        elif isinstance(child, ast.Tuple | ast.List):
            yield from child.elts
        elif isinstance(child, ast.expr):
            yield measured(child) or child
