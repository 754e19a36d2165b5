"""A report as text: a table of the steps, the verdict, its cause."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from typing import TextIO

from rich.console import Console
from rich.table import Table
from rich.text import Text

from nbddp.verify.compare import ROUNDING, Row
from nbddp.verify.outcome import Outcome, optimizers

COLOURS = {"same": "bold green", "alike": "bold yellow", "different": "bold red"}
MOST_PRINTED = 3


def show(report: Outcome, out: TextIO) -> None:
    """On a terminal with colours, elsewhere plain."""
    # Where it is imported in a kernel, rich would display a page of its own in place of writing.
    console = Console(file=out, highlight=False, soft_wrap=not out.isatty(), force_jupyter=False)
    if report.rows:
        console.print(_table(report))
    console.print(Text(f"{report.name}: {report.headline}", style=COLOURS[report.verdict]))
    for line in said(report):
        console.print(Text(line))


def text(report: Outcome) -> str:
    """The same, plain."""
    out = io.StringIO()
    show(report, out)
    return out.getvalue().rstrip()


def said(report: Outcome) -> Iterator[str]:
    """The verdict in sentences."""
    yield report.sentence
    for cause in report.causes:
        yield f"cause: {cause.what}" + (f" ({cause.evidence})" if cause.evidence else "")
        yield f"help: {cause.advice}"
    for one, many in report.comparison.printed[:MOST_PRINTED]:
        yield f"printed: '{one}' on {report.expected}, '{many}' on {report.nproc}"
    for note in report.notes:
        yield f"note: {note}"


def _table(report: Outcome) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    names = dict(optimizers(report.rows))
    for head in columns(report):
        table.add_column(head, justify="right", no_wrap=True)
    for row in report.rows:
        cells = [field if place else f"{field}" for place, field in enumerate(fields(row, names))]
        table.add_row(*cells, style="" if row.apart <= ROUNDING else "yellow")
    return table


def columns(report: Outcome) -> list[str]:
    """Heads of the table: numbers of one process, then those of all."""
    several = ["optimizer"] if len(optimizers(report.rows)) > 1 else []
    many = f"on {report.nproc}"
    return ["step", *several, "lr", "loss", many, "gradient", many, "weights differ by"]


def fields(row: Row, names: dict[int, str]) -> Sequence[str]:
    """One row of it."""
    several = [f"{row.optimizer + 1} {names[row.optimizer]}"] if len(names) > 1 else []
    rates = " ".join(f"{rate:.3g}" for rate in dict.fromkeys(row.one.lr))
    if row.lr:
        rates += " / " + " ".join(f"{rate:.3g}" for rate in dict.fromkeys(row.many.lr))
    numbers = (row.one.loss, row.many.loss, row.one.gradient, row.many.gradient)
    return [str(row.number), *several, rates, *(f"{value:.7g}" for value in numbers), f"{row.weights:.1e}"]
