"""Nodes that are added to a script's tree. For tracebacks, each stands where the statement is that it belongs to."""

from __future__ import annotations

import ast
from collections.abc import Iterable

NAME = "__nbddp__"  # ends as it begins: in the body of a class it is not mangled


def dictionary(pairs: Iterable[tuple[str, str]]) -> str:
    return "{" + ", ".join(f"{name!r}: {text}" for name, text in pairs) + "}"


def known(texts: Iterable[str]) -> str:
    """A dictionary of those that have a value: a branch that was not taken has given its names none."""
    return f"{NAME}.known({dictionary((text, f'lambda: {text}') for text in texts)})"


def statements(text: str, at: ast.stmt) -> list[ast.stmt]:
    """The code of this text, all of it at this place."""
    body = ast.parse(text).body
    for node in (n for statement in body for n in ast.walk(statement)):
        _put(node, at)
    return body


def expression(text: str, first: ast.expr) -> ast.expr:
    """A call of the text whose first argument is a node that is there already."""
    call = ast.parse(text, mode="eval").body
    assert isinstance(call, ast.Call)
    for node in ast.walk(call):
        _put(node, first)
    call.args[0] = first
    return call


def zero(at: ast.expr) -> ast.expr:
    """The number, at this place."""
    return ast.copy_location(ast.Constant(0), at)


def at_place(statement: ast.stmt, at: ast.stmt) -> ast.stmt:
    """A statement without expressions."""
    _put(statement, at)
    return statement


def _put(node: ast.AST, at: ast.stmt | ast.expr) -> None:
    if isinstance(node, ast.expr | ast.stmt | ast.keyword | ast.excepthandler):
        node.lineno = node.end_lineno = at.lineno
        node.col_offset = node.end_col_offset = at.col_offset


class Blocks:
    """Which list of statements each statement is in."""

    def __init__(self, tree: ast.Module) -> None:
        self._block: dict[int, list[ast.stmt]] = {}
        for node in ast.walk(tree):
            for block in (value for _, value in ast.iter_fields(node) if isinstance(value, list)):
                self._block.update((id(item), block) for item in block if isinstance(item, ast.stmt))

    def before(self, at: ast.stmt, text: str) -> None:
        """A statement of its own before another."""
        block, place = self._place(at)
        block[place:place] = statements(text, at)

    def after(self, at: ast.stmt, text: str) -> None:
        """The same after it."""
        block, place = self._place(at)
        block[place + 1 : place + 1] = statements(text, at)

    def _place(self, at: ast.stmt) -> tuple[list[ast.stmt], int]:
        block = self._block[id(at)]
        return block, next(place for place, statement in enumerate(block) if statement is at)
