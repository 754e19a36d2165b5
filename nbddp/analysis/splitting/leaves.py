"""Samples of which a step asks for gradients itself: `x.requires_grad = True`, which torch allows of no slice."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from nbddp.analysis.reading import Reading
from nbddp.analysis.values import Extent, spread


def leaves(plan: Reading) -> frozenset[str]:
    """Names of what a rank has a part of; as the whole is a leaf of the graph, its part may be cut off from it."""
    found = set[str]()
    for node in plan.nodes():
        match node:
            case ast.Attribute(value=ast.Name() as name, attr="requires_grad", ctx=ast.Store()):
                if spread(plan.facts.value(name)) is Extent.SAMPLES:
                    found |= {*_names(plan, name, frozenset())}
    return frozenset(found)


def _names(plan: Reading, name: ast.Name, seen: frozenset[ast.AST]) -> Iterator[str]:
    """Also those under which callers hand it on."""
    yield name.id
    function = plan.program.function_of(name)
    if not isinstance(function, ast.FunctionDef) or function in seen:
        return
    parameters = [p.arg for p in (*function.args.posonlyargs, *function.args.args)]
    for call in plan.callers.get(function, ()):
        placed = dict(zip(parameters[parameters[:1] == ["self"] :], call.args, strict=False))
        given = {**placed, **{k.arg: k.value for k in call.keywords if k.arg}}.get(name.id)
        if isinstance(given, ast.Name):
            yield from _names(plan, given, seen | {function})
