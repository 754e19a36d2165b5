"""How a name starts: which statement sets it anew before a loop, and to nothing."""

from __future__ import annotations

import ast

from nbddp.analysis.library import Shape, entry_of
from nbddp.analysis.slicing.scopes import is_name, names_in
from nbddp.analysis.syntax import assigned


def block_of(parent: ast.AST, node: ast.AST) -> list[ast.stmt]:
    for field in ("body", "orelse", "finalbody"):
        block = getattr(parent, field, None)
        if isinstance(block, list) and node in block:
            return block
    return []


def sets(statement: ast.stmt, name: str) -> bool:
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    return any(is_name(t, name) or (isinstance(t, ast.Tuple) and name in names_in(t)) for t in targets)


def starts_at_zero(statement: ast.stmt, name: str) -> bool:
    """Does the statement set the name to zeros only, so that summing over ranks counts nothing twice?"""
    value = _given(statement, name)
    return value is not None and is_nothing(value)


def _given(statement: ast.stmt, name: str) -> ast.expr | None:
    """What of the statement goes to the name, as far as it is written apart."""
    whole = getattr(statement, "value", None)
    return next((value for target, value in assigned(statement) if is_name(target, name)), whole)


def is_nothing(node: ast.expr) -> bool:
    match node:
        case ast.Constant():
            return node.value == 0 and not isinstance(node.value, str)
        case ast.List(elts=parts) | ast.Tuple(elts=[_, *_] as parts) | ast.Dict(values=parts):  # `()` only grows
            return all(map(is_nothing, parts))
        case (
            ast.BinOp(left=inner, op=ast.Mult())
            | ast.ListComp(elt=inner)
            | ast.GeneratorExp(elt=inner)
            | ast.DictComp(value=inner)
            | ast.Call(func=ast.Name(id="list" | "tuple" | "dict"), args=[inner])
        ):
            return is_nothing(inner)
        case ast.Call(func=ast.Attribute(attr="zeros" | "zeros_like")) | ast.Call(ast.Name("int" | "float"), args=[]):
            return True
        case ast.Call(func=ast.Attribute(value=base, attr="tensor" | "to" | "array"), args=[inner, *_]):
            return is_nothing(inner) or is_nothing(base)
        case ast.Call(func=ast.Name(id="defaultdict") | ast.Attribute(attr="defaultdict"), args=[ast.Name(id=made)]):
            return made in ("int", "float")
    return False


def is_empty(statement: ast.stmt, name: str) -> bool:
    """Does the statement set the name to an empty list (or tensor, or array)?"""
    value = _given(statement, name)
    while isinstance(value, ast.Call) and entry_of(value).shape is Shape.SAME:
        value = value.func.value  # type: ignore[attr-defined]
    match value:
        case ast.List(elts=[]) | ast.Call(func=ast.Name(id="list"), args=[]):
            return True
        case ast.Call(args=[ast.List(elts=[]) | ast.Constant(value=0) | ast.Tuple([ast.Constant(value=0), *_]), *_]):
            return True
    return False
