"""One cell from its source: the way that every front door takes, live cells of a kernel included."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, replace

from nbddp.notebook import marks
from nbddp.notebook.cellmagics import Opening, open_cell
from nbddp.notebook.layout import flush_left, unix_newlines
from nbddp.notebook.lines import escape_lines
from nbddp.notebook.magicnames import AUTOMAGIC
from nbddp.notebook.model import Cell, Escape, SyntaxProblem
from nbddp.notebook.syntax import check, parse
from nbddp.sentence import sentence


@dataclass(frozen=True)
class _Python:
    """What compiling a cell's source comes to."""

    code: str
    error: SyntaxProblem | None = None
    has_await: bool = False
    escapes: tuple[Escape, ...] = ()
    mode: str | None = None
    magic_line: str = ""
    needs_imports: tuple[str, ...] = ()


def cell_from_source(source: str, number: int = 1, kind: str = "code", tags: Iterable[str] = ()) -> Cell:
    """The cell with its magics escaped and its role resolved."""
    source, tags = unix_newlines(source), tuple(tags)
    if kind != "code":
        return Cell(number, kind, source, "", tags)
    python = _python(source)
    directive = marks.directive_of(source)
    claimed = marks.roles(python.mode, directive, tags)
    cell = Cell(
        number,
        kind,
        source,
        python.code,
        tags,
        directive,
        mark=claimed[0] if claimed else None,
        mode=python.mode,
        magic_line=python.magic_line,
        escapes=python.escapes,
        needs_imports=python.needs_imports,
        has_await=python.has_await,
        marks=claimed,
    )
    return replace(cell, error=_in_source(cell, python.error)) if python.error else cell


def _python(source: str) -> _Python:
    """Most cells are plain Python, and Python never holds a magic: those are done after one look by the compiler."""
    if "get_ipython()." not in source:
        error, has_await = check(source)
        if error is None:
            return _Python(source, None, has_await)
    text = flush_left(source)
    opening = open_cell(text)
    if not opening.is_python:
        return _Python("", None, False, opening.escapes, opening.mode, opening.magic_line)
    try:
        return _with_magics(text, opening)
    except RecursionError:
        return _Python(text, SyntaxProblem(sentence("magics are nested too deeply"), 1, 1))


def _with_magics(text: str, opening: Opening) -> _Python:
    lines = escape_lines(opening.text)
    error, has_await = check(lines.code)
    if error and AUTOMAGIC.fullmatch(text):
        start = len(text) - len(text.lstrip())
        lines = escape_lines(text[:start] + "%" + text[start:])
        error, has_await = check(lines.code)
    escapes = (*opening.escapes, *lines.escapes)
    needs = _missing(lines.code, lines.needs) if lines.needs and not error else ()
    return _Python(lines.code, error, has_await, escapes, opening.mode, opening.magic_line, needs)


def _in_source(cell: Cell, error: SyntaxProblem) -> SyntaxProblem:
    return replace(error, column=cell.source_column(error.line, error.column))


def _missing(code: str, needs: tuple[tuple[str, int], ...]) -> tuple[str, ...]:
    """The needed modules that no `import` at the cell's top level binds on an earlier line."""
    imports = [node for node in parse(code).body if isinstance(node, ast.Import)]
    lines = {_bound(alias): node.lineno for node in reversed(imports) for alias in node.names}
    return tuple(dict.fromkeys(module for module, line in needs if lines.get(module, line) >= line))


def _bound(alias: ast.alias) -> str:
    """`import os.path` binds `os`; `import x as os` binds another module."""
    return alias.name.split(".")[0] if alias.asname in {None, alias.name} else ""
