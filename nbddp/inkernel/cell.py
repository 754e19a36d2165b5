"""A cell's edited syntax tree, put together with the one that the shell has made of it.

The compiler reads a cell with its magics replaced, the shell with its magics turned into calls. What is the same in
both is edited; what differs, a magic, is left to the shell.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from nbddp.analysis.syntax import Program, asks_for_main
from nbddp.edits import Edit
from nbddp.inkernel.places import cell_span, edited, is_inserted, tree_of
from nbddp.notebook import Cell

Place = tuple[int, int]


class NotAlike(Exception):
    """The shell understands the cell in another way than the compiler does; the sentence says where."""


def edited_cell(program: Program, cell: Cell, edits: Sequence[Edit], shell: Sequence[ast.stmt]) -> list[ast.stmt]:
    """What the shell shall execute in place of its own statements."""
    start, end, line = cell_span(program, cell)
    own = [s.node for s in program.statements if s.cell is cell]
    flat = [inner for node in shell for inner in _under_guard(node)]
    if len(own) != len(flat):
        raise NotAlike("IPython reads a different number of statements in it")
    tree = tree_of(program, edited(program, start, end, edits), line)
    groups = list(_groups(tree.body))
    if len(groups) != len(own) or not own:
        raise NotAlike("its statements cannot be separated")
    kept: dict[Place, ast.stmt] = {}
    for mine, theirs in zip(own, flat, strict=True):
        kept |= _differing(program, edits, mine, theirs, line)
    shift = flat[0].lineno - (own[0].lineno - line + 1)
    made = iter([[_with(kept, node, shift) for node in group] for group in groups])
    return [node for theirs in shell for node in _put_back(theirs, made)]


def is_guard(node: ast.stmt) -> bool:
    """`if __name__ == "__main__":`, under which the compiler looks as if it were not there."""
    return isinstance(node, ast.If) and not node.orelse and asks_for_main(node.test)


def _under_guard(node: ast.stmt) -> list[ast.stmt]:
    return node.body if isinstance(node, ast.If) and is_guard(node) else [node]


def _put_back(theirs: ast.stmt, made: Iterator[list[ast.stmt]]) -> list[ast.stmt]:
    if isinstance(theirs, ast.If) and is_guard(theirs):
        theirs.body = [node for _ in theirs.body for node in next(made)]
        return [theirs]
    return next(made)


def _groups(body: Sequence[ast.stmt]) -> Iterator[list[ast.stmt]]:
    """Each statement of the cell with those that were put before it; what was put behind the last goes with that."""
    waiting: list[ast.stmt] = []
    last: list[ast.stmt] = []
    for node in body:
        waiting.append(node)
        if not is_inserted(node):
            if last:
                yield last
            last, waiting = waiting, []
    if last:
        yield [*last, *waiting]


def _differing(
    program: Program, edits: Sequence[Edit], own: ast.stmt, shell: ast.stmt, line: int
) -> dict[Place, ast.stmt]:
    """The smallest statements that differ, the shell's by the place of the compiler's."""
    if ast.dump(own) == ast.dump(shell):
        return {}
    found: dict[Place, ast.stmt] = {}
    if type(own) is type(shell) and _same_header(own, shell):
        for mine, theirs in zip(_inner(own), _inner(shell), strict=True):
            found |= _differing(program, edits, mine, theirs, line)
        return found
    start, end = program.span(own)
    if any(start <= edit.start < end for edit in edits):
        raise NotAlike(f"line {own.lineno - line + 1} has a magic, inside of the code that would have to be watched")
    return {(own.lineno - line + 1, own.col_offset): shell}


def _same_header(own: ast.AST, shell: ast.AST) -> bool:
    """Alike but for the statements inside, and with as many of those; a simple statement has none."""
    has_block = False
    for field in own._fields:
        mine, theirs = getattr(own, field, None), getattr(shell, field, None)
        if _is_block(mine) and _is_block(theirs):
            has_block = True
            if len(mine) != len(theirs):  # type: ignore[arg-type]
                return False
            parts = zip(mine, theirs, strict=True)  # type: ignore[arg-type]
            if any(not isinstance(m, ast.stmt) and not _same_header(m, t) for m, t in parts):
                return False
        elif _dumped(mine) != _dumped(theirs):
            return False
    return has_block


def _is_block(value: Any) -> bool:
    blocks = ast.stmt | ast.ExceptHandler | ast.match_case
    return isinstance(value, list) and bool(value) and all(isinstance(v, blocks) for v in value)


def _dumped(value: Any) -> list[str]:
    parts = value if isinstance(value, list) else [value]
    return [ast.dump(part) if isinstance(part, ast.AST) else repr(part) for part in parts]


def _inner(node: ast.AST) -> Iterator[ast.stmt]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt):
            yield child
        elif isinstance(child, ast.ExceptHandler | ast.match_case):
            yield from _inner(child)


def _with(kept: Mapping[Place, ast.stmt], node: ast.stmt, shift: int) -> ast.stmt:
    """The shell's statements at their places, and the lines that the shell counts."""
    new: ast.stmt = _Keeping(kept).visit(node)
    shells = {inner for statement in kept.values() for inner in ast.walk(statement)}
    for inner in ast.walk(new) if shift else ():
        if inner not in shells and hasattr(inner, "lineno"):
            inner.lineno += shift
            inner.end_lineno = (inner.end_lineno or 0) + shift  # type: ignore[attr-defined]
    return new


class _Keeping(ast.NodeTransformer):
    def __init__(self, kept: Mapping[Place, ast.stmt]) -> None:
        self.kept = kept

    def visit(self, node: ast.AST) -> Any:
        if isinstance(node, ast.stmt) and not is_inserted(node):
            if (theirs := self.kept.get((node.lineno, node.col_offset))) is not None:
                return theirs
        return self.generic_visit(node)
