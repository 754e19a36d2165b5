"""What the cell would have left in the kernel had it run there, and a run on several processes has not."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Set
from typing import Any

from nbddp.analysis import Plan
from nbddp.analysis.state import are_many, is_untouched, meaning, names_holding
from nbddp.analysis.values import Value
from nbddp.magics.handover.definitions import defines
from nbddp.run.folder.result import Result

DIFFERS = "each process has its own"
STAYS = "it stays in the processes"
SHOWS = "it only displays something, and a script displays nothing"
OWN = "each process has built its own"


def wanted(
    plan: Plan,
    result: Result,
    namespace: Mapping[str, Any],
    built: Set[str] = frozenset(),
    filled: Set[str] = frozenset(),
) -> dict[str, str]:
    """Names with the reason: all that it would have bound or changed, but for definitions and what is back: in
    `result`, and objects, `built` whole or `filled` where they are.
    """
    own = [s for s in plan.program.statements if s.cell.number == plan.training_cell]
    own = [s for s in own if not (defines(s.node) or isinstance(s.node, ast.Pass))]
    shown = plan.slice.dropped
    kept = [s for s in own if s.index not in shown]
    bound = {name for s in kept for name in plan.flow.effects[s.index].may_bind}
    only_shown = {name for s in own if s.index in shown for name in plan.flow.effects[s.index].may_bind} - bound
    touched = {n for s in kept for n in plan.flow.effects[s.index].mutates | plan.flow.when_called(s.index)[1]}
    changed = {n for n in (touched & namespace.keys()) - bound if _is_changed(plan, n, namespace[n])}
    changed = {name for name in changed if not is_untouched(plan, name)}
    changed -= filled
    changed |= {name for name in trained_elsewhere(plan, result.states) if name in namespace}
    missing = sorted((bound - filled | changed) - result.states.keys() - result.values.keys() - built - {"_"})
    return {name: _why(plan, name) for name in missing} | dict.fromkeys(sorted(only_shown), SHOWS)


def trained_elsewhere(plan: Plan, states: Iterable[str]) -> list[str]:
    """Variables that hold models, optimizers or parameters which were trained, and of which no state is back."""
    final, roles = plan.facts.final, plan.roles
    moved = {m.obj for m in roles.models} | roles.followers | roles.optimizers | roles.schedulers
    moved |= {o for p in roles.optimizers for o in plan.facts.fields.get((p, "params"), Value()).of("parameter")}
    for path in states:
        held = meaning(plan, final, path).objs
        moved -= {o for o in held if len(held) == 1 and not are_many(plan, o)}
    return sorted(names_holding(plan, moved))


def _is_changed(plan: Plan, name: str, thing: Any) -> bool:
    """Something that holds state, other than what reading a loader or calling a loss leaves as it was."""
    value = plan.facts.final.get(name)
    kinds = {o.kind for o in value.objs} if value else set()
    if kinds & {"model", "optimizer", "scheduler", "scaler", "instance", "list", "dict"}:
        return not (hasattr(thing, "parameters") and not any(True for _ in thing.parameters()))
    return isinstance(thing, list | dict | set)


def _why(plan: Plan, name: str) -> str:
    if is_untouched(plan, name):
        return OWN
    value = plan.facts.final.get(name)
    return DIFFERS if value is not None and value.varies else STAYS
