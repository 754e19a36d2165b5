"""`nbddp check x.ipynb`: what an export would keep, drop and take each name for, and every finding.

Status: 0 clean (or warnings without --strict), 1 warnings under --strict, 2 cannot export.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from nbddp.checking import check
from nbddp.cli.arguments import add_json, add_notebook, options_of
from nbddp.cli.colour import coloured, paint
from nbddp.cli.parse import Parser
from nbddp.cli.show import count, show
from nbddp.diagnostics import Diagnostic
from nbddp.notebook import Notebook, read_notebook

if TYPE_CHECKING:
    from nbddp.checking import Dropped, Kept, Report


def add_arguments(parser: Parser) -> None:
    add_notebook(parser)
    parser.add_argument("--strict", action="store_true", help="exit with status 1 if there are warnings")
    add_json(parser)


def execute(arguments: argparse.Namespace) -> int:
    notebook = read_notebook(arguments.notebook)
    report = check(notebook, options_of(arguments))
    if arguments.json:
        found = [diagnostic.as_dict() for diagnostic in report.diagnostics]
        print(json.dumps({**dataclasses.asdict(report), "diagnostics": found}, indent=2))
    else:
        print("".join(f"{line}\n" for line in _page(notebook, report, coloured(sys.stdout))), end="")
        show(report.diagnostics, sys.stdout)
        print(_verdict(report))
    return _status(report.diagnostics, strict=arguments.strict)


def _status(diagnostics: Sequence[Diagnostic], *, strict: bool) -> int:
    levels = {diagnostic.level for diagnostic in diagnostics}
    if "error" in levels:
        return 2
    return int(strict and "warning" in levels)


def _page(notebook: Notebook, report: Report, on: bool) -> Iterator[str]:
    roles = sorted(report.roles, key=lambda role: (role.cell, role.name))
    for title, table in (
        ("roles", [(r.name, r.role, r.file or f"cell {r.cell}", "" if r.sure else "(a guess)") for r in roles]),
        ("kept", [(f"cell {k.cell}:{k.line}", _said(notebook, k)) for k in report.kept]),
        ("left out", [(f"cell {d.cell}:{d.line}", _said(notebook, d), d.why) for d in report.dropped]),
    ):
        if table:
            yield from (paint(title, "bold", on), *_columns(table), "")


def _said(notebook: Notebook, found: Kept | Dropped) -> str:
    """The first line as it stands in the cell: there a magic is a magic, not what nbddp read in its place."""
    line = notebook.cells[found.cell - 1].source.split("\n")[found.line - 1].strip()
    return f"{line[:59]}…" if "\n" in found.source or len(line) > 60 else line


def _columns(table: Sequence[tuple[str, ...]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for row in table:
        yield "  " + "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()


def _verdict(report: Report) -> str:
    found = count(report.diagnostics) or "nothing to report"
    can = _status(report.diagnostics, strict=False) == 0
    return f"{found}; {'an export gives a script' if can else 'cannot export'}"
