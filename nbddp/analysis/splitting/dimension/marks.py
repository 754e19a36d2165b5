"""`# ddp: samples in dim 1`, in the cell that trains: the user's own word on which dimension counts the samples."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from nbddp.analysis.reading import Reading
from nbddp.analysis.values import Split
from nbddp.notebook import Cell

MARK = re.compile(r"#\s*\|?\s*ddp:\s*samples in dim(?:ension)?\s*(\d+)\s*$", re.IGNORECASE)
LIKE = re.compile(r"#\s*\|?\s*ddp:\s*samples\b", re.IGNORECASE)


def marked_dim(plan: Reading, step: ast.AST) -> int | None:
    lines = (text for cell in _cells(plan, step) for _, text in _lines(cell))
    return next((int(match[1]) for text in lines if (match := MARK.search(text))), None)


def _cells(plan: Reading, step: ast.AST) -> list[Cell]:
    """That of the step, and that of the training, which may call it in a function of another cell."""
    return [plan.program.cell_of(step), *(c for c in plan.notebook.cells if c.number == plan.training_cell)]


def unused_marks(plan: Reading, splits: Iterable[Split]) -> Iterator[tuple[Cell, int, str]]:
    """Those that are misspelt, of a third dimension, or beside no batch that is split."""
    used = {cell.number: s.dim for s in splits for cell in _cells(plan, s.at)}
    for cell in plan.notebook.cells:
        for number, text in _lines(cell):
            match = MARK.search(text)
            if match is None or used.get(cell.number) != int(match[1]):
                yield cell, number, text.strip()


def _lines(cell: Cell) -> Iterator[tuple[int, str]]:
    lines = enumerate(cell.source.split("\n"), 1) if cell.kind == "code" else ()
    yield from ((number, text) for number, text in lines if LIKE.search(text))
