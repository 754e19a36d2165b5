"""The state that a run starts with: that of the models, optimizers and schedulers which live in the kernel."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from nbddp.analysis.domain import Obj
from nbddp.analysis.facts import LoopFact
from nbddp.analysis.plan import Plan
from nbddp.analysis.scope import state_in_scope
from nbddp.magics.loops import first_loop, loops_before
from nbddp.magics.restoring import bare
from nbddp.run.folder import RunFolder

KINDS = ("model", "optimizer", "scheduler", "scaler")
Path = tuple[str, ...]  # a name of the notebook, and an attribute of what it stands for where there is one


@dataclass(frozen=True)
class Handover:
    """Live objects by the name that the script's loop has for them; in which of its training loops they go in."""

    objects: Mapping[str, Any] = field(default_factory=dict)
    loop: int = 1
    notes: tuple[str, ...] = ()

    def write(self, folder: RunFolder) -> None:
        """The file that the run starts from; none where there is nothing to hand over."""
        if not self.objects:
            return
        from nbddp.script.parts.checkpoint import plain, save_whole

        states = {
            name: plain(bare(thing).state_dict())  # type: ignore[no-untyped-call]
            for name, thing in self.objects.items()
        }
        save_whole({"format": 1, "states": states, "values": {}, "left_out": {}, "loop": self.loop}, folder.start)  # type: ignore[no-untyped-call]


def handover(plan: Plan, namespace: Mapping[str, Any]) -> Handover:
    """What of the live state the script takes over; what the training cell itself builds starts anew, as ever."""
    loop = first_loop(plan)
    if loop is None:
        return Handover(notes=("It starts as the cells do: its loop has no epochs into which a state could go.",))
    before = loops_before(plan)
    objects, absent = {}, []
    for keyword, text in state_in_scope(plan, loop).items():
        held = _held(plan, loop, text)
        if not held or any(_made_here(plan, obj) for obj in held):
            continue
        thing = _find(plan, namespace, held, text)
        if thing is None:
            absent.append(keyword)
        else:
            objects[keyword] = thing
    notes = [f"No live {name} was found in the notebook: it starts as the cells build it." for name in absent]
    return Handover(objects, before + 1, tuple(notes))


def _held(plan: Plan, loop: LoopFact, text: str) -> frozenset[Obj]:
    """The things that an expression of the loop stands for."""
    name, _, attribute = text.partition(".")
    value = loop.names.get(name)
    if value is None or not attribute:
        return value.of(*KINDS) if value else frozenset()
    owners = value.of("instance", "model")
    fields = [v for (owner, f), v in plan.facts.fields.items() if owner in owners and f == attribute]
    return frozenset(obj for v in fields for obj in v.of(*KINDS))


def _made_here(plan: Plan, obj: Obj) -> bool:
    places = (obj.node, obj.site)
    return any(
        plan.program.cell_of(place).number == plan.training_cell
        for place in places
        if place is not None and hasattr(place, "lineno")
    )


def _find(plan: Plan, namespace: Mapping[str, Any], held: frozenset[Obj], text: str) -> Any:
    """The live object: by the same expression where it means the same, else by another that holds the same thing."""
    paths = sorted(_paths(plan, held), key=lambda path: (".".join(path) != text, len(path), path))
    for name, *attributes in paths:
        thing = namespace.get(name)
        for attribute in attributes:
            thing = getattr(thing, attribute, None)
        if hasattr(thing, "state_dict"):
            return thing
    return None


def _paths(plan: Plan, held: frozenset[Obj]) -> Iterator[Path]:
    for name, value in plan.facts.final.items():
        if value.of(*KINDS) and value.of(*KINDS) <= held:
            yield (name,)
        for (owner, attribute), inside in plan.facts.fields.items():
            if owner in value.objs and attribute.isidentifier() and inside.of(*KINDS) and inside.of(*KINDS) <= held:
                yield (name, attribute)
