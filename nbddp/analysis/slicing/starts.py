"""How a name starts, or the fields of an object: which statement sets it anew before a loop, and to nothing."""

from __future__ import annotations

import ast

from nbddp.analysis.library import Shape, entry_of
from nbddp.analysis.syntax import assigned, is_name, names_in, walk

DEPTH = 2  # methods that methods call


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


def zeros_behind(owner: ast.ClassDef, method: str, depth: int = 0) -> frozenset[str]:
    """Fields that are zero behind it: `self.hits = 0`, `self.matrix[:] = 0`, `self.matrix.zero_()`, `self.reset()`."""
    found = frozenset[str]()
    for statement in _body(owner, method):
        pairs = [*assigned(statement)]
        zeros = frozenset(_field(target) for target, value in pairs if is_nothing(value))
        match statement:
            case ast.Expr(ast.Call(func=ast.Attribute(value=ast.Name(id="self"), attr=other))) if depth < DEPTH:
                zeros = zeros_behind(owner, other, depth + 1)
            case ast.Expr(ast.Call(func=ast.Attribute(value=place, attr="zero_"))):
                zeros, pairs = frozenset({_field(place)}), [(place, ast.Constant(0))]
            case ast.Expr(ast.Call(func=ast.Attribute(value=place, attr="fill" | "fill_"), args=[value])):
                zeros, pairs = frozenset({_field(place)} if is_nothing(value) else ()), [(place, value)]
        alone = bool(pairs) and all(is_nothing(value) for _, value in pairs)  # else it may do more
        found = zeros | (found if alone else found - _touched(owner, statement, found))
    return found - {""}


def _body(owner: ast.ClassDef, method: str) -> list[ast.stmt]:
    return next((n.body for n in owner.body if isinstance(n, ast.FunctionDef) and n.name == method), [])


def _touched(owner: ast.ClassDef, node: ast.AST, fields: frozenset[str], depth: int = 0) -> frozenset[str]:
    """Of the fields those that it speaks of, and methods that it calls; all of them where these are not seen."""
    named = {n.attr for n in walk(node) if isinstance(n, ast.Attribute) and getattr(n.value, "id", "") == "self"}
    called = [n.func for n in walk(node) if isinstance(n, ast.Call)]
    methods = [f.attr for f in called if isinstance(f, ast.Attribute) and getattr(f.value, "id", "") == "self"]
    unseen = any(getattr(f, "id", "") == "super" for f in called) or depth >= DEPTH
    if unseen or any(not _body(owner, method) for method in methods):
        return fields
    inner = (_touched(owner, s, fields, depth + 1) for method in methods for s in _body(owner, method))
    return frozenset(named).union(*inner)


def zeros_of(owner: ast.ClassDef, made: ast.expr) -> frozenset[str]:
    """What is zero in an object that is made so; of a dataclass by what stands in its body."""
    if _body(owner, "__init__"):
        return zeros_behind(owner, "__init__")
    given = isinstance(made, ast.Call) and (made.args or made.keywords)
    if given or owner.bases or _body(owner, "__post_init__"):
        return frozenset()
    pairs = (pair for statement in owner.body for pair in assigned(statement))
    return frozenset(t.id for t, value in pairs if isinstance(t, ast.Name) and is_nothing(value))


def _field(target: ast.expr) -> str:
    match target:
        case ast.Attribute(value=ast.Name(id="self"), attr=name):
            return name
        case ast.Subscript(value=inner, slice=ast.Slice(lower=None, upper=None, step=None)):
            return _field(inner)
    return ""
