"""Samples that are sorted by their lengths for a recurrent layer, and put back behind it: each is computed alone."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from nbddp.analysis.library import effect_of
from nbddp.analysis.reading import Reading
from nbddp.analysis.syntax import walk

SORTS = ("sort", "argsort")


def is_put_back(plan: Reading, sort: ast.AST) -> bool:
    """`lengths, order = lengths.sort(0)`: the lengths are for packing alone, and `order.sort(0)` leads back.

    Also of what leads back, and of the packing.
    """
    inside = [*walk(plan.program.function_of(sort) or plan.program.tree)]
    read = [n for n in inside if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)]
    sorts = (s for s in inside if isinstance(s, ast.Assign) and _is_sort(s.value))
    return any(sort in _steps_of(plan, one, [n for n in read if n.lineno > one.lineno]) for one in sorts)


def _steps_of(plan: Reading, statement: ast.Assign, read: Sequence[ast.Name]) -> list[ast.AST]:
    """All that belongs to it: nothing where the samples are not put back, or are put in order for something else."""
    order, lengths = _names(statement)
    again = {n: _sorted_again(plan, n) for n in read if n.id == order}
    leading = [_bound_to(plan, one) for one in again.values() if one is not None]
    back = {name for names in leading for name in names}
    used = any(not names or any(n.id in names for n in read) for names in leading)
    selects = [call for n in read if n.id in {order, *back} and (call := _selected(plan, n)) is not None]
    packs = [_packed(plan, n) for n in read if n.id == lengths]
    clear = None not in packs and all(led is not None or _is_index(plan, n) for n, led in again.items())
    steps = [node for node in (statement.value, *again.values(), *packs, *selects) if node is not None]
    return steps if clear and used else []


def _names(statement: ast.Assign) -> tuple[str, str | None]:
    """Of the order, and of what has been put in order."""
    match statement.targets[0]:
        case ast.Tuple(elts=[ast.Name(id=values), ast.Name(id=order)]):
            return order, values
        case ast.Name(id=order):
            return order, None
    return "", None


def _is_sort(node: ast.AST | None) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in SORTS


def _around(plan: Reading, name: ast.Name) -> Iterator[ast.AST]:
    """Within its statement."""
    for node in plan.program.ancestors(name):
        if isinstance(node, ast.stmt):
            return
        yield node


def _sorted_again(plan: Reading, order: ast.Name) -> ast.AST | None:
    return next((node for node in _around(plan, order) if _is_sort(node)), None)


def _packed(plan: Reading, lengths: ast.Name) -> ast.AST | None:
    facts = ((node, plan.facts.calls.get(node)) for node in _around(plan, lengths) if isinstance(node, ast.Call))
    return next((node for node, fact in facts if fact and any(effect_of(n).packs for n in fact.names)), None)


def _bound_to(plan: Reading, sort: ast.AST) -> list[str]:
    """`_, back = order.sort()`, `back = order.argsort()`: what leads back."""
    statement = plan.program.statement_of(sort)
    return [_names(statement)[0]] if isinstance(statement, ast.Assign) and statement.value is sort else []


def _selected(plan: Reading, order: ast.Name) -> ast.AST | None:
    """`x.index_select(0, order)`."""
    for node in _around(plan, order):
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "index_select":
            return node if any(order in {*walk(arg)} for arg in node.args[1:]) else None
    return None


def _is_index(plan: Reading, order: ast.Name) -> bool:
    """`x[order]`, `x[order.long()]`."""
    if _selected(plan, order) is not None:
        return True
    below: ast.AST = order
    for node in _around(plan, order):
        if isinstance(node, ast.Subscript):
            return below is not node.value
        below = node
    return False
