"""Statements that the script leaves out, and that draw random numbers after a seed: all that is drawn later changes."""

from __future__ import annotations

from collections.abc import Iterator

from nbddp.analysis import Plan
from nbddp.analysis.reading import Definition, draws, seeds, surely_draws
from nbddp.analysis.syntax import Statement


def draws_left_out(plan: Plan) -> Iterator[Statement]:
    """Of cells that run before the training, where something that is kept draws from the same generator later."""
    first = min((s.index for s in plan.training), default=0)
    before = [s for s in plan.program.statements[:first] if not isinstance(s.node, Definition)]
    definitions = {s.node.name: s.node for s in plan.program.statements if isinstance(s.node, Definition)}
    kept, seeded = {s.index for s in plan.kept}, set[str]()
    drawn_later = {s.index: draws(plan, s.node, definitions) for s in before if s.index in kept}
    for statement in before:
        if statement.index in kept:
            seeded |= seeds(plan, statement.node, definitions)
        elif found := surely_draws(plan, statement.node, definitions) & seeded:
            if any(found & drawn for index, drawn in drawn_later.items() if index > statement.index):
                yield statement
