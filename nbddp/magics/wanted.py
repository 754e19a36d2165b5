"""What the cell would have left in the kernel had it run there, and a run on several processes has not."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from nbddp.analysis.plan import Plan
from nbddp.magics.definitions import DEFINITIONS
from nbddp.run.result import Result

DIFFERS = "each process has its own"
STAYS = "it stays in the processes"
UNTOUCHED = frozenset({"loader", "dataset", "sampler", "device", "loss", "generator", "transform", "writer"})


def wanted(plan: Plan, result: Result, namespace: Mapping[str, Any]) -> dict[str, str]:
    """Names with the reason, all that are no loop variable of a comprehension and no definition."""
    own = [s for s in plan.program.statements if s.cell.number == plan.training_cell]
    own = [s for s in own if not isinstance(s.node, DEFINITIONS | ast.Pass)]
    shown = plan.slice.dropped
    kept = [s for s in own if s.index not in shown]
    bound = {name for s in kept for name in plan.flow.effects[s.index].may_bind}
    changed = {name for s in kept for name in plan.flow.effects[s.index].mutates} & namespace.keys()
    changed = {name for name in changed - bound if _is_changed(plan, name, namespace[name])}
    back = result.states.keys() | result.values.keys()
    missing = sorted((bound | changed) - back - {"_"})
    return {name: _why(plan, name) for name in missing if not _is_untouched(plan, name)}


def _is_untouched(plan: Plan, name: str) -> bool:
    value = plan.facts.final.get(name)
    return value is not None and bool(value.objs) and all(o.kind in UNTOUCHED for o in value.objs)


def _is_changed(plan: Plan, name: str, thing: Any) -> bool:
    """Something that holds state, other than what reading a loader or calling a loss leaves as it was."""
    value = plan.facts.final.get(name)
    kinds = {o.kind for o in value.objs} if value else set()
    if kinds & {"model", "optimizer", "scheduler", "scaler", "instance", "list", "dict"}:
        return not (hasattr(thing, "parameters") and not any(True for _ in thing.parameters()))
    return isinstance(thing, list | dict | set)


def _why(plan: Plan, name: str) -> str:
    value = plan.facts.final.get(name)
    return DIFFERS if value is not None and value.varies else STAYS
