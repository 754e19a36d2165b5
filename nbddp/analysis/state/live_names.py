"""Which names of the notebook hold which things, as the kernel has them."""

from __future__ import annotations

import ast
from collections.abc import Set

from nbddp.analysis.reading import Reading
from nbddp.analysis.values import Obj

HOLDERS = ("list", "dict", "instance")


def rebound(plan: Reading) -> frozenset[str]:
    """Names that stand for something else in the kernel: the training does not need what was bound to them last."""
    effects, kept = plan.flow.effects, set(plan.slice.kept)
    last = {name: s.index for s in plan.program.statements for name in effects[s.index].may_bind}
    return frozenset(name for name in plan.facts.final if name in last and last[name] not in kept)


def names_holding(plan: Reading, wanted: Set[Obj]) -> dict[str, frozenset[Obj]]:
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


def made_here(plan: Reading, obj: Obj) -> bool:
    """Does the training cell itself build it?"""
    places = [p for p in (obj.node, obj.site) if p is not None and hasattr(p, "lineno")]
    return any(plan.program.cell_of(place).number == plan.training_cell for place in places)


REPEATED = ast.For | ast.While | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
UNTOUCHED = frozenset({"loader", "dataset", "sampler", "device", "loss", "generator", "transform", "writer"})


def are_many(plan: Reading, obj: Obj) -> bool:
    """Built in a loop: the one that a name has at its end is not all of them."""
    node = obj.site or obj.node
    return node is not None and any(isinstance(a, REPEATED) for a in plan.program.ancestors(node))


def only_filled(plan: Reading) -> frozenset[str]:
    """Names that the cell never binds: what they stand for is changed where it is."""
    effects = [plan.flow.effects[s.index] for s in plan.program.statements if s.cell.number == plan.training_cell]
    bound = {name for e in effects for name in e.may_bind}
    return frozenset(name for e in effects for name in e.mutates) - bound


def is_untouched(plan: Reading, name: str) -> bool:
    value = plan.facts.final.get(name)
    return value is not None and bool(value.objs) and all(o.kind in UNTOUCHED for o in value.objs)
