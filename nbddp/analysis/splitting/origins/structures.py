"""Whether a batch is one tensor, or a list or a dictionary of several: what takes it apart says so."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from nbddp.analysis.reading import Reading
from nbddp.analysis.syntax import handed, walk

DEPTH = 4  # of functions that hand it on
Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


def structure_of(plan: Reading, statements: Iterable[ast.AST], name: str, depth: int = DEPTH) -> str:
    """How it is taken apart: as a "list", a "dict" by its keys, "nested" lists; nothing for a tensor."""
    for node in (n for s in statements for n in walk(s)):
        match node:
            case ast.Assign(targets=[ast.Tuple() | ast.List() as parts], value=ast.Name(id=read)) if read == name:
                return "nested" if any(isinstance(p, ast.Tuple | ast.List) for p in parts.elts) else "list"
            case ast.Subscript(value=ast.Name(id=read), slice=ast.Constant(value=str())) if read == name:
                return "dict"
            case ast.keyword(arg=None, value=ast.Name(id=read)) if read == name:  # `model(**batch)`
                return "dict"
            case ast.Call(func=ast.Attribute(value=ast.Name(id=read), attr="items" | "keys")) if read == name:
                return "dict"
            case ast.Call(func=func, args=[ast.Starred(value=ast.Name(id=read)), *_]) if (
                read == name and plan.facts.value(func).of("model", "function", "method")
            ):
                return "list"  # `model(*batch)`; of `torch.stack([*x])` it may be a tensor
            case ast.Call() if depth:
                for body, parameter in _given_to(plan, node, name):
                    if found := structure_of(plan, [body], parameter, depth - 1):
                        return found
    return ""


def _given_to(plan: Reading, call: ast.Call, name: str) -> Iterator[tuple[ast.AST, str]]:
    """`model.training_step(batch)`: which parameter of which function it is there."""
    fact = plan.facts.calls.get(call)
    for body in fact.bodies if fact is not None else ():
        if isinstance(body, Function):
            given = handed(call, body)
            yield from ((body, p) for p, value in given if isinstance(value, ast.Name) and value.id == name)
