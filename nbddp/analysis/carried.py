"""Plain values that a loop over epochs carries from one turn to the next: the best so far, patience, histories.

They are names, and attributes of instances: of the trainer whose method has the loop, of one that stops early.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from nbddp.analysis.domain import ANYTHING, Obj, Value
from nbddp.analysis.effects import local_names
from nbddp.analysis.facts import LoopFact
from nbddp.analysis.loop_starts import Start, start_of
from nbddp.analysis.plan import Plan
from nbddp.analysis.scope import readable, state_in_scope
from nbddp.analysis.turns import HOLDERS, Turn, turn_of

NUMBERS = ("numpy.inf", "math.inf", "torch.inf", "numpy.nan", "math.nan", "torch.nan")


@dataclass(frozen=True)
class Carried:
    """What a checkpoint needs besides the state, as expressions at the loop."""

    values: tuple[str, ...] = ()
    things: tuple[str, ...] = ()  # of modules that are not read: what they remember is seen when they run
    lost: tuple[str, ...] = ()  # what a checkpoint cannot hold


def carried(plan: Plan, fact: LoopFact) -> Carried:
    """As far as the code around the loop can give them a new value."""
    if not isinstance(fact.node, ast.For | ast.While):
        return Carried()
    turn, start = turn_of(plan, fact.node.body, plan.program.function_of(fact.node)), start_of(plan, fact)
    found = turn.effects
    needed = (found.may_bind & found.reads) | (found.may_bind - found.binds)
    held = {n for n, v in fact.names.items() if v.of(*HOLDERS) & turn.filled} - (found.binds - found.reads)
    names = sorted(n for n in needed | held if n in fact.names and start.may_have(n))
    values = [n for n in names if _is_own(plan, fact, n) and _is_plain(plan, _seen(plan, fact, n))]
    lost = [n for n in names if n not in values and _matters(plan, fact, n, _seen(plan, fact, n))]
    attributes = _attributes(plan, fact, turn, start, frozenset(o for n in values for o in fact.names[n].objs))
    told = {text for o in turn.told if (text := start.texts.get(o)) is not None}
    things = tuple(sorted(told.union(attributes.things)))
    return Carried((*values, *attributes.values), things, (*lost, *attributes.lost))


def _is_own(plan: Plan, fact: LoopFact, name: str) -> bool:
    function = plan.program.function_of(fact.node)
    if function is None:
        return readable(plan, fact.node, name)
    declared = {n for s in ast.walk(function) if isinstance(s, ast.Global) for n in s.names}
    return name in local_names(function) or (name in declared and readable(plan, fact.node, name))


def _seen(plan: Plan, fact: LoopFact, name: str) -> list[Value]:
    here = [plan.facts.value(n) for n in ast.walk(fact.node) if isinstance(n, ast.Name) and n.id == name]
    return [fact.names[name], *here]


def _is_plain(plan: Plan, values: list[Value]) -> bool:
    """No thing that has a state of its own, and the same on all ranks wherever the loop looks at it."""
    return all(_is_data(o) for v in values for o in v.objs) and not any(varies_within(plan, v) for v in values)


def _is_data(obj: Obj) -> bool:
    """A list, a dictionary, `np.inf`."""
    return (obj.kind in HOLDERS and obj.owner is None) or (obj.kind == "library" and obj.name.lower() in NUMBERS)


def _matters(plan: Plan, fact: LoopFact, text: str, values: list[Value]) -> bool:
    """Numbers, and copies of models; not bars, loaders and the like, which a training makes for itself."""
    models = {o for v in values for o in v.of("model")}
    others = {o for v in values for o in v.objs if o.kind not in HOLDERS and not _is_data(o)}
    return not others or (bool(models) and others == models and text not in state_in_scope(plan, fact).values())


def varies_within(plan: Plan, value: Value, depth: int = 3) -> bool:
    """Does it differ between ranks, or anything that it holds?"""
    inner = [v for o in value.of(*HOLDERS) if (v := plan.facts.fields.get((o, "[]"))) is not None]
    return value.varies or (depth > 0 and any(varies_within(plan, v, depth - 1) for v in inner))


def _attributes(plan: Plan, fact: LoopFact, turn: Turn, start: Start, known: frozenset[Obj]) -> Carried:
    """Of instances that the loop can name; those that are sure to be there when it begins."""
    found = turn.effects
    needed = (found.may_bind & found.reads) | (found.may_bind - found.binds)
    values, things, lost = set(), set(), set()
    for key, (thing, attribute) in turn.attributes.items():
        value = plan.facts.fields.get((thing, attribute), ANYTHING)
        holders = value.of(*HOLDERS)
        fills = bool(holders & turn.filled) and not holders <= known and key not in found.binds - found.reads
        if key not in needed and not fills:
            continue
        text, plain = f"{start.texts.get(thing, thing.name)}.{attribute}", _is_plain(plan, [value])
        if plain and thing in start.perhaps:
            things.add(start.texts[thing])
        elif plain and thing.kind == "instance" and start.has(thing, attribute):
            values.add(text)
        elif (fills or key in found.reads) and _matters(plan, fact, text, [value]):
            lost.add(text)
    return Carried(tuple(sorted(values)), tuple(sorted(things)), tuple(sorted(lost - values)))
