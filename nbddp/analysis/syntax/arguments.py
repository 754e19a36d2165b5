"""Which parameter of a function gets what a call gives."""

from __future__ import annotations

import ast
from collections.abc import Iterator


def handed(
    call: ast.Call, function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
) -> Iterator[tuple[str, ast.expr]]:
    """The parameters with their expressions, where that is plain; a method's first parameter is its own."""
    positional = [a.arg for a in (*function.args.posonlyargs, *function.args.args)]
    if positional[:1] in (["self"], ["cls"]):
        del positional[:1]
    for name, value in zip(positional, call.args, strict=False):
        if isinstance(value, ast.Starred):
            break
        yield name, value
    yield from ((k.arg, k.value) for k in call.keywords if k.arg)
