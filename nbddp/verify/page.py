"""A report in a notebook: both curves, the verdict, the table folded away. It needs no kernel and no script."""

from __future__ import annotations

import math
from base64 import b64encode
from collections.abc import Iterator
from html import escape
from typing import Any

from nbddp.verify.outcome import Outcome, optimizers
from nbddp.verify.table import columns, fields, said
from nbddp.widget.svg import picture

EDGES = {"same": "#16a34a", "alike": "#d9822b", "different": "#e5484d"}
MARKS = {"same": "✓", "alike": "≈", "different": "✗"}


def html(report: Outcome) -> str:
    """All of it."""
    head = f"<b>{MARKS[report.verdict]} {escape(report.headline)}</b> <code>{escape(report.name)}</code>"
    lines = "".join(f"<p>{escape(line)}</p>" for line in said(report))
    edge = f"border-left: 3px solid {EDGES[report.verdict]}; padding-left: 10px"
    return f'<div style="max-width: 1100px; {edge}"><p>{head}</p>{lines}{_curves(report)}{_table(report)}</div>'


def _curves(report: Outcome) -> str:
    drawn = picture(dict(_series(report)))
    if not drawn:
        return ""
    words = f"Losses of the steps on {report.expected} and on {report.nproc} processes"
    return f'<p><img alt="{escape(words)}" src="data:image/svg+xml;base64,{b64encode(drawn.encode()).decode()}"></p>'


def _series(report: Outcome) -> Iterator[tuple[str, dict[str, Any]]]:
    """A panel for each optimizer. The curve of all processes is drawn last, so that it lies on top where both agree."""
    for number, kind in optimizers(report.rows):
        rows = [row for row in report.rows if row.optimizer == number]
        panel = {"x": "step", "panel": f"{number} {kind}"}
        for name, values in (
            (report.expected, [row.one.loss for row in rows]),
            (f"{report.nproc} processes", [row.many.loss for row in rows]),
        ):
            points = [[row.number, loss] for row, loss in zip(rows, values, strict=True) if math.isfinite(loss)]
            if points:
                yield f"{number}:{name}", {**panel, "name": name, "points": points}


def _table(report: Outcome) -> str:
    if not report.rows:
        return ""
    names = dict(optimizers(report.rows))
    head = "".join(f"<th>{escape(name)}</th>" for name in columns(report))
    rows = "".join(
        f"<tr>{''.join(f'<td>{escape(field)}</td>' for field in fields(row, names))}</tr>" for row in report.rows
    )
    return f"<details><summary>{len(report.rows)} steps</summary><table><tr>{head}</tr>{rows}</table></details>"
