"""Rows and texts that are written out, and are kept or shown by a name: `row = {"loss": loss}; log(row)`."""

from __future__ import annotations

import ast

from nbddp.analysis.combining.outputs import lets_out
from nbddp.analysis.combining.writes import Uses
from nbddp.analysis.library import effect_of
from nbddp.analysis.syntax import Program
from nbddp.analysis.values import CallFact, Facts

EMPTY = ("{}", "[]", "()", "dict()")


def written_with(found: Uses) -> tuple[ast.expr, ...] | None:
    """The literal, and what was put into it since; None where it has come by another way, or part of it may be read."""
    made = found.made
    if made is None or not (is_written_out(made) or is_text(made)):
        return None
    return (*([] if ast.unparse(made) in EMPTY else [made]), *found.put)


def is_written_out(made: ast.AST) -> bool:
    """With all its items."""
    match made:
        case ast.Call(func=ast.Name(id="dict"), args=[], keywords=given):
            return all(k.arg for k in given)
        case ast.Dict(keys=keys):
            return None not in keys
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            return not any(isinstance(e, ast.Starred) for e in elements)
    return False


def is_text(made: ast.AST) -> bool:
    match made:
        case ast.BinOp(left=text, op=ast.Mod()) | ast.Call(func=ast.Attribute(value=text, attr="format")):
            return isinstance(text, ast.Constant) and isinstance(text.value, str)
    return isinstance(made, ast.JoinedStr)


def is_shown(program: Program, facts: Facts, name: ast.Name) -> bool:
    """Given to what shows or logs it as it is, or as `**name` of another dictionary that is."""
    call = given_to(program, facts, name)
    bar = call is not None and effect_of(f".{getattr(call.node.func, 'attr', '')}").bar
    return call is not None and (lets_out(call) or bool(bar))


def given_to(program: Program, facts: Facts, name: ast.Name) -> CallFact | None:
    parent = program.parents[name]
    if isinstance(parent, ast.Dict) and parent.keys[parent.values.index(name)] is None:
        parent = program.parents[parent]
    if isinstance(parent, ast.keyword):
        parent = program.parents[parent]
    return facts.calls.get(parent) if isinstance(parent, ast.Call) else None
