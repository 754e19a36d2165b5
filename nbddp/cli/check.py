"""`nbddp check x.ipynb`: what an export would keep, drop and take each name for, and every finding.

Status: 0 clean (or warnings without --strict), 1 warnings under --strict, 2 cannot export.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from nbddp.checking import check
from nbddp.cli.arguments import add_json, add_notebook, options_of
from nbddp.cli.colour import coloured, paint
from nbddp.cli.parse import Parser
from nbddp.cli.show import count, show
from nbddp.diagnostics import Diagnostic
from nbddp.notebook import read_notebook

if TYPE_CHECKING:
    from nbddp.checking import Report


def add_arguments(parser: Parser) -> None:
    add_notebook(parser)
    parser.add_argument("--strict", action="store_true", help="status 1 where there are warnings")
    add_json(parser)


def execute(arguments: argparse.Namespace) -> int:
    report = check(read_notebook(arguments.notebook), options_of(arguments))
    if arguments.json:
        print(json.dumps(dataclasses.asdict(report), indent=2))
    else:
        print("\n".join(_page(report, coloured(sys.stdout))), end="\n\n")
        show(report.diagnostics, sys.stdout)
        print(_verdict(report))
    return _status(report.diagnostics, strict=arguments.strict)


def _status(diagnostics: Sequence[Diagnostic], *, strict: bool) -> int:
    levels = {diagnostic.level for diagnostic in diagnostics}
    if "error" in levels:
        return 2
    return int(strict and "warning" in levels)


def _page(report: Report, on: bool) -> list[str]:
    lines: list[str] = []
    for title, table in (
        ("roles", [(r.name, r.role, f"cell {r.cell}", "" if r.sure else "(a guess)") for r in report.roles]),
        ("kept", [(f"cell {k.cell}:{k.line}", k.source) for k in report.kept]),
        ("left out", [(f"cell {d.cell}:{d.line}", d.source, d.why) for d in report.dropped]),
    ):
        if table:
            lines += [paint(title, "bold", on), *_columns(table), ""]
    return lines[:-1]


def _columns(table: Sequence[tuple[str, ...]]) -> Iterable[str]:
    rows = [[_first_line(text) for text in row] for row in table]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  " + "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()


def _first_line(source: str, most: int = 60) -> str:
    first, _, more = source.partition("\n")
    return f"{first[: most - 1]}…" if more or len(first) > most else first


def _verdict(report: Report) -> str:
    found = count(report.diagnostics) or "nothing to report"
    can = _status(report.diagnostics, strict=False) == 0
    return f"{found}; {'an export gives a script' if can else 'cannot export'}"
