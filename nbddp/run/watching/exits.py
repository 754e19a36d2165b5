"""How a turn of a loop can end early: `break`, `continue` and `return`, wherever they stand in it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

Loop = ast.For | ast.While
Write = Callable[[ast.stmt, list[ast.stmt]], list[ast.stmt]]  # the exit, and what of the body is done by then


def before_exits(loop: Loop, write: Write) -> None:
    """Put statements before each exit. One out of the handling of an error is let be: the others may not come by."""
    for place, statement in enumerate(list(loop.body)):
        if isinstance(statement, ast.Break | ast.Continue | ast.Return):
            loop.body[place:place] = write(statement, loop.body[:place])
            return  # nothing that follows is ever run
        _within(statement, loop.body[:place], write, own=True)


def _within(node: ast.stmt, done: list[ast.stmt], write: Write, *, own: bool) -> None:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return
    inner = isinstance(node, ast.For | ast.AsyncFor | ast.While)
    for name in ("body", "orelse", "finalbody"):
        _block(getattr(node, name, []), done, write, own=own and not (inner and name == "body"))
    for case in getattr(node, "cases", []):
        _block(case.body, done, write, own=own)


def _block(block: list[ast.stmt], done: list[ast.stmt], write: Write, *, own: bool) -> None:
    for statement in list(block):
        if isinstance(statement, ast.Return) or (own and isinstance(statement, ast.Break | ast.Continue)):
            place = next(i for i, other in enumerate(block) if other is statement)
            block[place:place] = write(statement, done)
        else:
            _within(statement, done, write, own=own)


def surely_set(done: Sequence[ast.stmt], name: str) -> bool:
    """Do these statements bind the name, whatever happens?"""
    for statement in done:
        if isinstance(statement, ast.With) and surely_set(statement.body, name):
            return True
        targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
        simple = isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign)
        if simple and any(isinstance(n, ast.Name) and n.id == name for t in targets if t for n in ast.walk(t)):
            return True
    return False
