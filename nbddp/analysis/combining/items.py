"""One item of a list or an array that a loop adds to: `losses[epoch] += loss`."""

from __future__ import annotations

import ast

from nbddp.analysis.slicing import (
    Function,
    all_arguments,
    block_of,
    changed_names,
    inside,
    is_nothing,
    root_name,
    sets,
    starts_at_zero,
)
from nbddp.analysis.syntax import Program, walk


def item_of(loop: ast.stmt, name: str) -> str | None:
    """`losses[epoch]`, where the loop adds to this one item only, and always to the same."""
    targets = [n.target for n in inside([loop]) if isinstance(n, ast.AugAssign) and root_name(n.target) == name]
    texts = {ast.unparse(t) for t in targets}
    slices = [t.slice for t in targets if isinstance(t, ast.Subscript)]
    index = {n.id for s in slices for n in walk(s) if isinstance(n, ast.Name)}
    calls = any(isinstance(n, ast.Call) for t in targets for n in walk(t))
    return texts.pop() if len(texts) == 1 and not calls and not index & changed_names([loop]) else None


def zero_before(program: Program, loop: ast.stmt, name: str, item: str) -> bool:
    """Was every item of the name set to zero somewhere before the loop, or this one right before it?"""
    node: ast.AST = loop
    index = {n.id for n in walk(ast.parse(item)) if isinstance(n, ast.Name)} - {name}
    while (parent := program.parents.get(node)) is not None:
        block = block_of(parent, node)
        for statement in block[: block.index(node)] if node in block else []:
            if sets(statement, name) and starts_at_zero(statement, name):
                return True
            if isinstance(statement, ast.Assign) and [ast.unparse(t) for t in statement.targets] == [item]:
                return is_nothing(statement.value)
        if _is_repeated_for_it(parent, index):
            return False
        node = parent
    return False


def _is_repeated_for_it(parent: ast.AST, index: set[str]) -> bool:
    """Does a loop or a call come to the same item again, so that it holds what the times before have left?"""
    if isinstance(parent, ast.For | ast.AsyncFor | ast.While):
        return not index & changed_names([parent])
    return isinstance(parent, Function) and not index & {a.arg for a in all_arguments(parent.args)}
