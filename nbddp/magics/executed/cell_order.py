"""In which order the executed cells make a notebook.

The kernel is what the latest executions made of it, so theirs is the order that counts. But a cell that was executed
again, with another number of epochs, say, has its place before the cells that read it. So it stays at the place of its
first execution wherever that makes no difference, and where the cells would otherwise read what comes later.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import TypeVar

from nbddp.analysis.slicing import Flow, build_flow
from nbddp.analysis.syntax import build_program
from nbddp.diagnostics import CannotExport
from nbddp.magics.executed.record import Executed
from nbddp.notebook import Notebook, cell_from_source

Made = TypeVar("Made")
MOVED = "Some cells were run again after cells that use them: they keep the position of their first run."


def in_order(cells: Sequence[Executed], make: Callable[[Sequence[Executed]], Made]) -> tuple[Made, str]:
    """What is made of the cells in the better of the two orders, and a sentence where that is not the kernel's own."""
    first = sorted(cells, key=lambda cell: cell.first)
    if first == list(cells) or same(first, cells):
        return make(first), ""
    try:
        return make(cells), ""
    except CannotExport as refusal:
        if not any(found.rule == "undefined" for found in refusal.diagnostics):
            raise
        return make(first), MOVED


def settled(cells: Sequence[Executed], make: Callable[[Sequence[Executed]], object]) -> Sequence[Executed]:
    """The cells in the order in which something can be made of them; where nothing can, in the order of execution."""

    def made(tried: Sequence[Executed]) -> Sequence[Executed]:
        make(tried)
        return tried

    try:
        return in_order(cells, made)[0]
    except CannotExport:
        first = sorted(cells, key=lambda cell: cell.first)
        return first if same(first, cells) else cells


def same(first: Sequence[Executed], latest: Sequence[Executed]) -> bool:
    """Whether all cells that change places leave each other alone."""
    live = tuple(cell_from_source(cell.source, number) for number, cell in enumerate(latest, start=1))
    if any(cell.error for cell in live):
        return False
    flow = build_flow(build_program(Notebook("", live)))
    touched = [_touched(flow, number) for number in range(1, len(latest) + 1)]
    places = {cell.key: place for place, cell in enumerate(first)}
    return all(
        places[latest[a].key] < places[latest[b].key] or _apart(touched[a], touched[b])
        for a, b in combinations(range(len(latest)), 2)
    )


Touched = tuple[set[str], set[str], bool]  # names read, names bound or changed, and whether more than names is


def _touched(flow: Flow, number: int) -> Touched:
    reads: set[str] = set()
    changes: set[str] = set()
    ambient = False
    for statement in flow.program.statements:
        if statement.cell.number == number:
            found = flow.effects[statement.index]
            read, changed = flow.when_called(statement.index)
            reads |= found.loads | found.deferred | read
            changes |= found.may_bind | found.mutates | found.deferred_mutates | changed
            ambient = ambient or flow.ambient(statement.index)
    return reads, changes, ambient


def _apart(a: Touched, b: Touched) -> bool:
    return not (a[1] & (b[0] | b[1]) or a[0] & b[1] or (a[2] and b[2]))
