"""What the names of a program are set to, where that is written out."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import lru_cache

from nbddp.analysis.syntax import Program

Source = ast.expr | tuple[ast.expr, int] | None  # a part of what a loop goes through; None for what is not followed


@lru_cache(maxsize=4)
def sources_of(program: Program) -> Mapping[tuple[ast.AST | None, str], Sequence[Source]]:
    found = defaultdict[tuple[ast.AST | None, str], list[Source]](list)
    for node in (n for n in program.nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)):
        found[program.function_of(node), node.id].append(_source(program, node))
    return found


def _source(program: Program, node: ast.Name) -> Source:
    match around := program.parents.get(node):
        case ast.Assign(value=value) | ast.AugAssign(value=value):
            return value
        case ast.Tuple(elts=parts):
            while isinstance(around, ast.Tuple):
                around = program.parents.get(around)
            return (around.iter, parts.index(node)) if isinstance(around, ast.For | ast.comprehension) else None
    return None


@lru_cache(maxsize=4)
def set_to(program: Program) -> Mapping[str, Sequence[ast.expr]]:
    """What names and fields are set to, by their text wherever that stands."""
    found = defaultdict[str, list[ast.expr]](list)
    for node in (n for n in program.nodes if isinstance(n, ast.Assign)):
        for target in node.targets:
            found[ast.unparse(target)].append(node.value)
    return found
