"""The slice of a notebook that hands values over."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from nbddp.analysis.reading.interpret import FOUND, Run, settled
from nbddp.analysis.slicing import (
    Flow,
    Slice,
    backward_slice,
    build_flow,
    definitions_of,
    given,
    making,
    refuse_kinds,
    still_made,
    with_loads,
)
from nbddp.analysis.syntax import build_program
from nbddp.analysis.values import Assumptions
from nbddp.diagnostics import Diagnostic
from nbddp.sentence import sentence


@dataclass(frozen=True)
class Taken:
    """The notebook with loads in it, what is kept of that, the names really needed, and what is worth saying."""

    flow: Flow
    slice: Slice
    names: tuple[str, ...] = ()
    notes: tuple[Diagnostic, ...] = ()


def training_of(flow: Flow, cell: int) -> frozenset[int]:
    """The statements of the training cell."""
    return frozenset(s.index for s in flow.program.statements if s.cell.number == cell)


def take_over(flow: Flow, without: Slice, names: Sequence[str], cell: int) -> Taken:
    """`without` is the slice where nothing is handed over: it tells what the values are made of."""
    last = given(flow, names, cell)
    refuse_kinds(names, settled(Run(flow.program, flow, without).under(Assumptions()), FOUND).facts.final)
    places = {_place(flow, i) for i in definitions_of(flow, without.kept, cell)}
    new = build_flow(build_program(with_loads(flow, last)))
    anyway = frozenset(s.index for s in new.program.statements if _place(new, s.index) in places)
    kept = backward_slice(new, training_of(new, cell), anyway, making(new, names, cell))
    loaded = {name for i in kept.kept if _is_load(new, i) for name in new.effects[i].binds}
    notes = [*still_made(new, kept.kept, last), *(_in_vain(name) for name in names if name not in loaded)]
    return Taken(new, kept, tuple(name for name in names if name in loaded), tuple(notes))


def _place(flow: Flow, index: int) -> tuple[int, int, bool]:
    statement = flow.program.statements[index]
    return statement.cell.number, flow.program.place(statement.node.lineno)[1], _is_load(flow, index)


def _is_load(flow: Flow, index: int) -> bool:
    return flow.program.statements[index].cell.mark == "snapshot"


def _in_vain(name: str) -> Diagnostic:
    message = sentence("the training does not use '%1', so the snapshot leaves it out", name)
    return Diagnostic("snapshot", "note", message)
