"""Which lines of a cell belong to which statement: its own, and the comments above it."""

from __future__ import annotations

from dataclasses import dataclass

from nbddp.analysis import Plan
from nbddp.analysis.syntax import Program, Statement
from nbddp.edits import first_offset, stands_alone


@dataclass(frozen=True)
class Region:
    """Offsets: where its comments begin, where the statement does, and where its last line ends."""

    lead: int
    start: int
    end: int


def regions(plan: Plan) -> dict[int, Region]:
    """By the index of the statement; comments at the end of a cell belong to its last statement."""
    program = plan.program
    place = {id(cell): at for at, cell in enumerate(program.cells)}  # two parts of one cell have one number
    found: dict[int, Region] = {}
    for i, statement in enumerate(program.statements):
        start = first_offset(program, statement.node)
        before = program.statements[i - 1] if i else None
        same_cell = before is not None and before.cell is statement.cell
        lead = _after(program, before) if same_cell and before else _cell_start(program, place[id(statement.cell)])
        lead = min(lead, start)
        following = program.statements[i + 1] if i + 1 < len(program.statements) else None
        last = following is None or following.cell is not statement.cell
        end = _cell_end(program, place[id(statement.cell)]) if last else _after(program, statement)
        if following is not None and not last and first_offset(program, following.node) < end:
            end = program.span(statement.node)[1]  # another statement on the same line
        found[statement.index] = Region(lead if _alone(program, statement) else start, start, end)
    return found


def _alone(program: Program, statement: Statement) -> bool:
    return stands_alone(program, statement.node) or bool(getattr(statement.node, "decorator_list", []))


def _after(program: Program, statement: Statement) -> int:
    """The start of the line behind a statement."""
    end = program.span(statement.node)[1]
    at = program.text.find("\n", end)
    return len(program.text) if at == -1 else at + 1


def _cell_start(program: Program, cell: int) -> int:
    return program.line_starts[program.cell_lines[cell] - 1]


def _cell_end(program: Program, cell: int) -> int:
    return _cell_start(program, cell + 1) if cell + 1 < len(program.cells) else len(program.text)
