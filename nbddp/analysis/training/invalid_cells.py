"""Cells that are not valid Python: each is reported at its own place, and what follows from it is not.

A cell that cannot be read may define, change or train anything. So where a script cannot be made and an earlier cell
is not valid, that cell is the reason as far as anybody can tell; other findings would send the reader elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable

from nbddp.analysis.training.training_statements import FRAMEWORKS
from nbddp.diagnostics import Diagnostic, Level
from nbddp.notebook import Cell, Notebook
from nbddp.sentence import NOTHING, Sentence, sentence

RULE = "syntax"
TRAINS = ("torch", "backward", *FRAMEWORKS)


def invalid_cells(notebook: Notebook) -> tuple[Cell, ...]:
    """Those of code that have a part in the training, as far as is known."""
    return tuple(cell for cell in notebook.cells if cell.kind == "code" and cell.error and cell.mark != "skip")


def first_causes(notebook: Notebook, training_cell: int, found: Iterable[Diagnostic]) -> list[Diagnostic]:
    """The findings, less what may follow from an invalid cell before the training, with a word at each such cell."""
    found, cells = list(found), invalid_cells(notebook)
    earlier = [cell for cell in cells if cell.number < training_cell]
    asked_for = any(cell.mark for cell in earlier)
    if earlier and (asked_for or any(one.level == "error" for one in found)):
        return [_needed(cell) for cell in earlier]
    return [*found, *(_left_out(cell, training_cell) for cell in cells)]


def training_unread(notebook: Notebook) -> list[Diagnostic]:
    """Where no cell trains: the invalid ones, of which one may, in a notebook that has to do with training at all."""
    about = any(word in cell.source for cell in notebook.cells if cell.kind == "code" for word in TRAINS)
    return [_needed(cell) for cell in invalid_cells(notebook)] if about else []


def training_not_valid(cell: Cell) -> Diagnostic:
    assert cell.error is not None
    return _at(cell, "error", sentence("the training cell is not valid Python: %1", cell.error.message))


def _needed(cell: Cell) -> Diagnostic:
    assert cell.error is not None
    return _at(cell, "error", sentence("the cell is not valid Python: %1", cell.error.message))


def _left_out(cell: Cell, training_cell: int) -> Diagnostic:
    assert cell.error is not None
    message = sentence("the cell is not valid Python and is left out: %1", cell.error.message)
    if cell.number > training_cell and "backward" not in cell.source:
        return _at(cell, "note", message)
    return _at(cell, "warning", message, why=sentence("the script trains without what this cell was to do"))


def _at(cell: Cell, level: Level, message: Sentence, why: Sentence = NOTHING) -> Diagnostic:
    assert cell.error is not None
    lines, line = cell.source.split("\n"), cell.error.line
    source = lines[line - 1] if line <= len(lines) else ""
    return Diagnostic(RULE, level, message, cell.number, line, cell.error.column, NOTHING, why, source)
