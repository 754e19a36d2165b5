"""The live objects that a plan speaks of: by the name, the attribute or the key under which the cells keep them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from nbddp.analysis import Plan
from nbddp.analysis.state import rebound
from nbddp.analysis.values import Obj, Value

NOTHING = object()


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
