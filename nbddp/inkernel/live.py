"""The live objects that a plan speaks of: by the name, the attribute or the key under which the cells keep them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from nbddp.analysis.domain import Obj, Value
from nbddp.analysis.plan import Plan

NOTHING = object()


def find(plan: Plan, namespace: Mapping[str, Any], obj: Obj) -> Any:
    """None where no variable surely holds it."""
    for name, value in plan.facts.final.items():
        for holds, steps in ((value, ()), *_parts(plan, value)):
            if holds.of(obj.kind) == {obj}:
                thing = _step(namespace.get(name, NOTHING), steps)
                if thing is not NOTHING:
                    return thing
    return None


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
