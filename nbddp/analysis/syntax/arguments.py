"""What is given to what: to the parameters of a function, to the targets of an assignment or a loop."""

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


def keywords_of(call: ast.Call) -> dict[str | None, ast.expr]:
    """By name; None stands for `**options`."""
    return {k.arg: k.value for k in call.keywords}


def assigned(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Targets, and what each of them is given."""
    match node:
        case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)) if len(names) == len(values):
            yield from zip(names, values, strict=True)
        case ast.Assign(targets=targets, value=value):
            yield from ((target, value) for target in targets)
        case ast.AugAssign(target=target, value=value) | ast.NamedExpr(target=target, value=value):
            yield target, value
        case ast.AnnAssign(target=target, value=ast.expr() as value):  # of a class: those of names are set apart
            yield target, value
        case ast.For() | ast.AsyncFor() | ast.comprehension():
            yield node.target, node.iter
        case ast.withitem(optional_vars=ast.expr() as target, context_expr=value):
            yield target, value
