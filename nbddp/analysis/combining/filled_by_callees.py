"""Containers that a loop hands to functions of the notebook, which fill them: `loss = score(output, y, metrics)`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from nbddp.analysis.slicing import Function, forms, inside, local_names
from nbddp.analysis.values import Loop, Machine


def handed_on(m: Machine, loop: Loop) -> dict[str, set[str]]:
    """The ways in which the functions change them, by the name in the loop."""
    found: dict[str, set[str]] = {}
    for node in inside([loop]):
        fact = m.facts.calls.get(node) if isinstance(node, ast.Call) else None
        for body in fact.bodies if fact else ():
            if isinstance(body, ast.FunctionDef) and isinstance(node, ast.Call):
                for name, parameter in _handed(node, body):
                    if ways := forms(body.body, parameter):
                        found.setdefault(name, set()).update(ways)
    return found


def read_by_called(m: Machine, loop: Loop, name: str) -> bool:
    """By a function that the loop calls: it finds a share there, and would find the whole behind the loop."""
    bodies = {body for call in m.facts.calls.values() if loop in call.loops for body in call.bodies}
    return any(_reads(body, name) for body in bodies)


def _reads(body: ast.AST, name: str) -> bool:
    """Of another's: a name that the function does not bind, or `self.name` for a text with a dot."""
    attribute = name.rpartition(".")[2] if "." in name else ""
    if not attribute and isinstance(body, Function) and name in local_names(body):
        return False
    return any(
        (isinstance(n, ast.Attribute) and n.attr == attribute)
        if attribute
        else (isinstance(n, ast.Name) and n.id == name)
        for n in ast.walk(body)
    )


def _handed(call: ast.Call, body: ast.FunctionDef) -> Iterator[tuple[str, str]]:
    """Names that a plain function is given, and what they are called there; a method's first parameter is its own."""
    parameters = [a.arg for a in (*body.args.posonlyargs, *body.args.args)]
    if isinstance(call.func, ast.Attribute):
        del parameters[:1]
    for argument, parameter in zip(call.args, parameters, strict=False):
        if isinstance(argument, ast.Name):
            yield argument.id, parameter
    for keyword in call.keywords:
        if isinstance(keyword.value, ast.Name) and keyword.arg:
            yield keyword.value.id, keyword.arg
