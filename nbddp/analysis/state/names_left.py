"""Names that an earlier training leaves: a run that skips it has to get from the kernel what is read of them."""

from __future__ import annotations

import ast
from collections.abc import Set
from dataclasses import dataclass

from nbddp.analysis.reading import Reading
from nbddp.analysis.state.training_passes import DEFINITION, Passage, passages_of
from nbddp.analysis.syntax import Statement, walk
from nbddp.analysis.values import ANYTHING

Import = ast.Import | ast.ImportFrom


@dataclass(frozen=True)
class NameLeft:
    name: str
    at: Statement  # behind which it is what the kernel has
    read_by: Statement  # the first that needs it
    kept: bool  # is a model or the like made in a loop that is skipped, and kept by this name?


def names_left(plan: Reading) -> tuple[NameLeft, ...]:
    """What the cells before the training cell bind or change when they train, and from what that has left."""
    known: dict[object, tuple[NameLeft, ...]] = plan.once.setdefault(names_left, {})
    if () not in known:
        known[()] = tuple(_found(plan))
    return known[()]


def _found(plan: Reading) -> list[NameLeft]:
    touched: set[str] = set()
    values = _of_values(plan)
    found = []
    for statement in plan.kept:
        if statement.cell.number == plan.training_cell or isinstance(statement.node, DEFINITION | Import):
            continue
        skipped = list(passages_of(plan, statement))
        if skipped or _reads(plan, statement) & touched:
            effects = plan.flow.effects[statement.index]
            own = values & (effects.may_bind | effects.mutates | plan.flow.when_called(statement.index)[1])
            touched |= own
            readers = ((name, _reader(plan, statement, name)) for name in sorted(own))
            found += [NameLeft(n, statement, by, _keeps(plan, n, skipped)) for n, by in readers if by is not None]
    return found


def _of_values(plan: Reading) -> set[str]:
    """What a training can leave: functions, classes, modules and builtins are in the script as they were."""
    made = [s for s in plan.kept if not isinstance(s.node, DEFINITION | Import)]
    bound = {name for s in made for name in plan.flow.effects[s.index].may_bind}
    declared = (node for s in plan.kept for node in walk(s.node) if isinstance(node, ast.Global))
    return bound.union(*(node.names for node in declared))


def _reads(plan: Reading, statement: Statement) -> Set[str]:
    return plan.flow.effects[statement.index].reads | plan.flow.when_called(statement.index)[0]


def _reader(plan: Reading, after: Statement, name: str) -> Statement | None:
    """The first that looks it up before another has surely bound it."""
    for statement in (s for s in plan.kept if s.index > after.index):
        if name in _reads(plan, statement):
            return statement
        if name in plan.flow.effects[statement.index].binds:
            return None
    return None


def _keeps(plan: Reading, name: str, skipped: list[Passage]) -> bool:
    inside = {node for passage in skipped for node in walk(passage.fact.node)}
    return any({o.node, o.site} & inside for o in plan.facts.final.get(name, ANYTHING).of("model", "optimizer"))
