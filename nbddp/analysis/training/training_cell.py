"""Which cell trains: the one that is marked, the one that was asked for, or the only one that does."""

from __future__ import annotations

from collections.abc import Sequence

from nbddp.analysis.slicing import Flow
from nbddp.analysis.syntax import Statement
from nbddp.analysis.training.invalid_cells import training_not_valid, training_unread
from nbddp.analysis.training.mark_checks import misspelt
from nbddp.analysis.training.training_statements import framework
from nbddp.analysis.training.unreadable_training import sets_up_ddp, trains_elsewhere
from nbddp.diagnostics import CannotExport, Diagnostic
from nbddp.notebook import Cell, Notebook
from nbddp.options import Options
from nbddp.sentence import NOTHING, Sentence, sentence
from nbddp.train_line import MAGIC, CannotParse, parse_train_line

RULE = "training-cell"


def choose_training_cell(flow: Flow, training: Sequence[Statement], options: Options) -> int:
    """Its number, of the cells with statements that train; raises CannotExport where there is not exactly one."""
    program = flow.program
    cells = {c.number: c for c in program.notebook.cells if c.kind == "code"}
    if options.train is not None:
        return _readable(flow, _asked_for(cells, options.train))
    marked = [c for c in cells.values() if c.mark == "train"]
    if len(marked) == 1:
        return _readable(flow, marked[0])
    if marked:
        raise CannotExport([_at(c, sentence("%1 cells are marked as the training cell", len(marked))) for c in marked])
    found = {s.cell.number: s.node.lineno for s in reversed(training)}
    if len(found) == 1:
        return next(iter(found))
    odd = misspelt(program.notebook)
    if not found:
        raise CannotExport([*odd, *(training_unread(program.notebook) or [_nothing_trains(flow)])])
    places = [cells[n] for n in sorted(found)]
    lines = {n: program.place(line)[1] for n, line in found.items()}
    raise CannotExport(
        odd
        + [
            _at(c, sentence("%1 cells train a model, and this is one of them", len(places)), line=lines[c.number],
                help=sentence("mark one of them with '%1', or choose this one with %2", MAGIC, f"--train {c.number}"))
            for c in places
        ]
    )  # fmt: skip


def with_line(notebook: Notebook, number: int, options: Options) -> Options:
    """What the cell's own `%%ddp_train` line says counts where nothing else was asked for."""
    cell = next(cell for cell in notebook.cells if cell.number == number)
    if cell.mode != "ddp":
        return options
    try:
        return options.over(parse_train_line(cell.magic_line).options)
    except CannotParse as error:
        line = next((n for n, text in enumerate(cell.source.split("\n"), 1) if text.lstrip().startswith(MAGIC)), 1)
        raise CannotExport([_at(cell, sentence("%1: %2", MAGIC, error), line=line, rule="options")]) from None


def _asked_for(cells: dict[int, Cell], number: int) -> Cell:
    if number not in cells:
        message = sentence("there is no code cell %1 in this notebook", number)
        known = sentence("code cells: %1", ", ".join(map(str, cells))) if cells else sentence("code cells: none")
        raise CannotExport([Diagnostic(RULE, "error", message, help=known)])
    return cells[number]


def _readable(flow: Flow, cell: Cell) -> int:
    """The number of a cell that has statements."""
    if cell.mark == "skip":
        raise CannotExport([_at(cell, sentence("the training cell is marked to be left out"))])
    if cell.error is not None:
        raise CannotExport([training_not_valid(cell)])
    if not any(statement.cell.number == cell.number for statement in flow.program.statements):
        raise CannotExport([_at(cell, sentence("the training cell is empty: write the loop that trains into it"))])
    return cell.number


def _at(cell: Cell, message: Sentence, *, line: int = 1, help: Sentence = NOTHING, rule: str = RULE) -> Diagnostic:
    lines = cell.source.split("\n")
    source = lines[line - 1] if line <= len(lines) else ""
    return Diagnostic(rule, "error", message, cell.number, line, 1, help, NOTHING, source)


def _nothing_trains(flow: Flow) -> Diagnostic:
    name = framework(flow)
    if name:
        message = sentence("%1 runs the training, and it has its own way to use several processes", name)
        return Diagnostic("framework", "error", message)
    message = sentence("no cell trains a model: none calls backward() and an optimizer's step()")
    advice = sentence("mark the cell that starts the training with '%1' or the tag 'ddp-train'", MAGIC)
    return sets_up_ddp(flow) or trains_elsewhere(flow) or Diagnostic(RULE, "error", message, help=advice)
