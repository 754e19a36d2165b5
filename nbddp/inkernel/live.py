"""The live objects that a plan speaks of: by the name, the attribute or the key under which the cells keep them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from typing import Any

from nbddp.analysis.domain import Obj, Value
from nbddp.analysis.plan import Plan

NOTHING = object()
HOLDERS = ("list", "dict", "instance")


def find(plan: Plan, namespace: Mapping[str, Any], obj: Obj) -> Any:
    """None where no variable surely holds it."""
    others = rebound(plan)
    for name, value in plan.facts.final.items():
        if name in others:
            continue
        for holds, steps in ((value, ()), *_parts(plan, value)):
            if holds.of(obj.kind) == {obj}:
                thing = _step(namespace.get(name, NOTHING), steps)
                if thing is not NOTHING:
                    return thing
    return None


def rebound(plan: Plan) -> frozenset[str]:
    """Names that stand for something else in the kernel: the training does not need what was bound to them last."""
    effects, kept = plan.flow.effects, set(plan.slice.kept)
    last = {name: s.index for s in plan.program.statements for name in effects[s.index].may_bind}
    return frozenset(name for name in plan.facts.final if name in last and last[name] not in kept)


def names_holding(plan: Plan, wanted: Set[Obj]) -> dict[str, frozenset[Obj]]:
    """Variables that hold some of these, themselves or one step away: in a list, a dictionary, an attribute."""
    held: dict[str, set[Obj]] = {}
    inside: dict[Obj, set[Obj]] = {}
    for (owner, _), value in plan.facts.fields.items():
        if owner.kind in HOLDERS:
            inside.setdefault(owner, set()).update(value.objs & wanted)
    for name, value in plan.facts.final.items():
        held[name] = set(value.objs & wanted).union(*(inside.get(o, ()) for o in value.objs))
    others = rebound(plan)
    return {name: frozenset(objs) for name, objs in held.items() if objs and name not in others}


def made_here(plan: Plan, obj: Obj) -> bool:
    """Does the training cell itself build it?"""
    places = [p for p in (obj.node, obj.site) if p is not None and hasattr(p, "lineno")]
    return any(plan.program.cell_of(place).number == plan.training_cell for place in places)


def _parts(plan: Plan, value: Value) -> Iterator[tuple[Value, tuple[str, ...]]]:
    """What attributes and items of a thing hold."""
    for (owner, field), inside in plan.facts.fields.items():
        if owner in value.of("instance", "model", "dict") and field != "[]":
            yield inside, (field,)


def _step(thing: Any, steps: tuple[str, ...]) -> Any:
    for step in steps:
        if step.startswith("["):
            try:
                thing = thing[step[2:-2]]
            except (KeyError, TypeError, IndexError):
                return NOTHING
        else:
            thing = getattr(thing, step, NOTHING)
    return thing
