"""Edited text whose syntax tree has the places of the unedited one: a traceback shows the lines that the user wrote."""

from __future__ import annotations

import ast
import bisect
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from nbddp.analysis.syntax import Program
from nbddp.edits import Edit
from nbddp.notebook import Cell, parse
from nbddp.script.apply import Conflict, in_order


@dataclass(frozen=True)
class Edited:
    """A cell's code after edits; `starts` and `ends` say for each character where it was in the program's text."""

    text: str
    starts: tuple[int, ...]
    ends: tuple[int, ...]


def edited(program: Program, start: int, end: int, edits: Iterable[Edit]) -> Edited:
    """The span with the edits that fall into it."""
    text: list[str] = []
    starts: list[int] = []
    ends: list[int] = []

    def keep(first: int, last: int) -> None:
        text.append(program.text[first:last])
        starts.extend(range(first, last))
        ends.extend(range(first + 1, last + 1))

    at = start
    last: Edit | None = None
    for edit in in_order(falling_into(edits, start, end)):
        if edit.start < at:
            raise Conflict(last or edit, edit)
        keep(at, edit.start)
        text.append(edit.text)
        # a line that is put behind a statement belongs to the line before, where the statement ends
        back = 1 if edit.place == "close" and edit.text.endswith("\n") and edit.start > start else 0
        starts.extend([edit.start - back] * len(edit.text))
        ends.extend([edit.end - back] * len(edit.text))
        at, last = edit.end, edit
    keep(at, end)
    return Edited("".join(text), tuple(starts), tuple(ends))


def falling_into(edits: Iterable[Edit], start: int, end: int) -> list[Edit]:
    """Those of a span. Where two cells meet, what closes a node is of the cell before, all else of the cell behind."""
    return [
        edit
        for edit in edits
        if start <= edit.start
        and edit.end <= end
        and not (edit.start == edit.end == (start if edit.place == "close" else end))
    ]


def tree_of(program: Program, edit: Edited, first_line: int) -> ast.Module:
    """Its syntax tree, each node at its place in the program's text less the lines before `first_line`.

    What was inserted gets a place without width: `is_inserted` knows it by that.
    """
    tree = parse(edit.text)
    lines = _Lines(edit.text)
    for node in ast.walk(tree):
        if hasattr(node, "lineno"):
            _move(program, edit, lines, node, first_line)
    return tree


def _move(program: Program, edit: Edited, lines: _Lines, node: Any, first_line: int) -> None:
    begin = edit.starts[min(lines.offset(node.lineno, node.col_offset), len(edit.starts) - 1)]
    last = min(lines.offset(node.end_lineno or node.lineno, node.end_col_offset or 0), len(edit.ends)) - 1
    finish = max(begin, edit.ends[last])
    _put(node, *_place(program, begin, first_line), *_place(program, finish, first_line))


def is_inserted(node: ast.stmt) -> bool:
    """A statement that stands in no cell."""
    return (node.lineno, node.col_offset) == (node.end_lineno, node.end_col_offset)


def cell_span(program: Program, cell: Cell) -> tuple[int, int, int]:
    """Where a cell's code begins and ends in the program's text, and its first line there."""
    at = program.cells.index(cell)
    line = program.cell_lines[at]
    following = program.cell_lines[at + 1 : at + 2]
    end = program.line_starts[following[0] - 1] if following else len(program.text)
    return program.line_starts[line - 1], end, line


class _Lines:
    """Places of `ast` (line, column in UTF-8) as offsets."""

    def __init__(self, text: str) -> None:
        self.lines = text.split("\n")
        self.starts = [0]
        for line in self.lines:
            self.starts.append(self.starts[-1] + len(line) + 1)

    def offset(self, line: int, column: int) -> int:
        text = self.lines[line - 1]
        characters = column if text.isascii() else len(text.encode()[:column].decode(errors="replace"))
        return self.starts[line - 1] + characters


def _place(program: Program, offset: int, first_line: int) -> tuple[int, int]:
    line = bisect.bisect_right(program.line_starts, offset)
    start = program.line_starts[line - 1]
    return line - first_line + 1, len(program.text[start:offset].encode())


def _put(node: ast.AST, line: int, column: int, end_line: int, end_column: int) -> None:
    places = {"lineno": line, "col_offset": column, "end_lineno": end_line, "end_col_offset": end_column}
    for name, value in places.items():
        setattr(node, name, value)
