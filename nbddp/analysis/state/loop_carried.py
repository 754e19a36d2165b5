"""Plain values that a loop over epochs carries from one turn to the next: the best so far, patience, histories.

They are names, and attributes of instances: of the trainer whose method has the loop, of one that stops early.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from nbddp.analysis.models import set_in_each_turn, thaws_later
from nbddp.analysis.reading import Reading, held_in_containers, readable, state_in_scope
from nbddp.analysis.slicing import inside
from nbddp.analysis.state.iteration_effects import HOLDERS, Turn, turn_of
from nbddp.analysis.state.loop_entry import Start, own_names, start_of
from nbddp.analysis.syntax import walk
from nbddp.analysis.values import ANYTHING, MARKS, LoopFact, Obj, Value, contents

NAMESPACES = {"types.SimpleNamespace", "argparse.Namespace", "easydict.EasyDict"}
NUMBERS = ("numpy.inf", "math.inf", "torch.inf", "numpy.nan", "math.nan", "torch.nan")


@dataclass(frozen=True)
class Carried:
    """What a checkpoint needs besides the state, as expressions at the loop."""

    values: tuple[str, ...] = ()
    things: tuple[str, ...] = ()  # that stay what they are: what has changed in them is seen when they run
    lost: tuple[str, ...] = ()  # what a checkpoint cannot hold


def carried(plan: Reading, fact: LoopFact, *, own: bool = False) -> Carried:
    """As far as the code around the loop can give them a new value; `own`: also what differs between ranks."""
    if not isinstance(fact.node, ast.For | ast.While):
        return Carried()
    known: dict[object, Carried] = plan.once.setdefault(carried, {})
    if (fact.node, own) not in known:
        known[fact.node, own] = _carried(plan, fact, fact.node, own=own)
    return known[fact.node, own]


def _carried(plan: Reading, fact: LoopFact, loop: ast.For | ast.While, *, own: bool) -> Carried:
    turn, start = turn_of(plan, loop.body, plan.program.function_of(loop)), start_of(plan, fact)
    names = _names(plan, fact, turn, start, own=own)
    known = frozenset(o for n in names.values for o in fact.names[n].objs)
    attributes = _attributes(plan, fact, turn, start, known, own=own)
    told = {text for o in turn.told if (text := start.texts.get(o)) is not None}
    things = tuple(sorted(told.union(names.things, attributes.things)))
    lost = (*names.lost, *attributes.lost, *_frozen_in_between(plan, fact), *held_in_containers(plan, fact))
    return Carried((*names.values, *attributes.values), things, tuple(dict.fromkeys(lost)))


def _frozen_in_between(plan: Reading, fact: LoopFact) -> list[str]:
    """Models whose parameters the loop freezes or frees: a state does not say which of them are trained."""
    later = [m.obj for m in plan.roles.models if thaws_later(plan, m.obj)]
    models = [m for m in later if not set_in_each_turn(plan, m, fact.node)]
    found = [(text, fact.names[text]) for text in state_in_scope(plan, fact).values() if text in fact.names]
    return [f"{text}.requires_grad" for text, value in found if value.objs & set(models)]


def _names(plan: Reading, fact: LoopFact, turn: Turn, start: Start, *, own: bool) -> Carried:
    found = turn.effects
    needed = (found.may_bind & found.reads) | (found.may_bind - found.binds)
    held = {n for n, v in fact.names.items() if v.of(*HOLDERS) & turn.filled or n in turn.grown}
    held -= found.binds - found.reads
    names = sorted(n for n in needed | held if n in fact.names and start.may_have(n))
    plain = [n for n in names if _is_plain(plan, _seen(plan, fact, n), own=own)]
    values = [n for n in plain if _is_own(plan, fact, n)]
    known = {o for n in values for o in fact.names[n].objs}
    left = [n for n in names if n not in values and (n in needed or not fact.names[n].objs & known)]
    things = {n for n in left if n in plain and n not in needed}
    things |= {n for n in turn.marked & _namespaces(plan) if n in fact.names and start.may_have(n)}
    lost = [n for n in left if n not in things and _matters(plan, fact, n, _seen(plan, fact, n))]
    return Carried(tuple(values), tuple(things), tuple(lost))


def _is_own(plan: Reading, fact: LoopFact, name: str) -> bool:
    """Does an assignment by the loop reach the name?"""
    function = plan.program.function_of(fact.node)
    if function is None:
        return readable(plan, fact.node, name)
    declared = {n for s in inside(function.body) if isinstance(s, ast.Global | ast.Nonlocal) for n in s.names}
    return name in declared or name in own_names(function)


def _namespaces(plan: Reading) -> set[str]:
    """`state = SimpleNamespace(best=0)`, `args = parser.parse_args()`."""
    made = [n for n in plan.nodes() if isinstance(n, ast.Assign) and isinstance(n.value, ast.Call)]
    calls = {n: plan.facts.calls.get(n.value) for n in made if isinstance(n.value, ast.Call)}
    found = {n for n, c in calls.items() if c is not None and c.names & NAMESPACES}
    found |= {n for n in made if getattr(getattr(n.value, "func", None), "attr", "") == "parse_args"}
    return {t.id for n in found for t in n.targets if isinstance(t, ast.Name)}


def _seen(plan: Reading, fact: LoopFact, name: str) -> list[Value]:
    here = [plan.facts.value(n) for n in walk(fact.node) if isinstance(n, ast.Name) and n.id == name]
    return [fact.names[name], *here]


def _is_plain(plan: Reading, values: list[Value], *, own: bool) -> bool:
    """No thing that has a state of its own, and the same on all ranks wherever the loop looks at it."""
    return all(_is_data(o) for v in values for o in v.objs) and (own or not any(_differs(plan, v) for v in values))


def _is_data(obj: Obj) -> bool:
    """A list, a dictionary, `np.inf`, what is known of a number."""
    known = obj.kind in MARKS or (obj.kind == "library" and obj.name.lower() in NUMBERS)
    return known or (obj.kind in HOLDERS and not obj.name)


def _matters(plan: Reading, fact: LoopFact, text: str, values: list[Value]) -> bool:
    """Numbers, and copies of models; not bars, loaders and the like, which a training makes for itself."""
    models = {o for v in values for o in v.of("model")}
    others = {o for v in values for o in v.objs if o.kind not in HOLDERS and not _is_data(o)}
    return not others or (bool(models) and others == models and text not in state_in_scope(plan, fact).values())


def _differs(plan: Reading, value: Value) -> bool:
    """Does it differ between ranks, or anything that it holds?"""
    return any(v.varies for v in contents(plan.facts, value))


def _attributes(
    plan: Reading, fact: LoopFact, turn: Turn, start: Start, known: frozenset[Obj], *, own: bool
) -> Carried:
    """Of instances that the loop can name; those that are sure to be there when it begins."""
    found = turn.effects
    needed = (found.may_bind & found.reads) | (found.may_bind - found.binds)
    values, things, lost = set(), set(), set()
    there = _there(plan, fact)
    for key, (thing, attribute) in turn.attributes.items():
        value = plan.facts.fields.get((thing, attribute), ANYTHING)
        holders = value.of(*HOLDERS)
        fills = (holders & turn.filled and not holders <= known) or key in turn.grown
        if not (key in needed or (fills and key not in found.binds - found.reads)) or _is_buffer(plan, attribute):
            continue
        text, plain = f"{start.texts.get(thing, thing.name)}.{attribute}", _is_plain(plan, [value], own=own)
        if plain and thing in start.perhaps:
            things.add(start.texts[thing])
        elif plain and thing.kind != "model" and _has_name(start, thing) and start.has(thing, attribute):
            values.add(text)
        elif thing.kind == "instance" and thing not in there:
            continue
        elif (fills or key in found.reads) and thing.kind != "class" and _matters(plan, fact, text, [value]):
            lost.add(text)
    return Carried(tuple(sorted(values)), tuple(sorted(things)), tuple(sorted(lost - values)))


def _there(plan: Reading, fact: LoopFact) -> frozenset[Obj]:
    """What can be reached when the loop begins: not the batches that it makes, or is given, turn by turn."""
    return frozenset(o for v in fact.names.values() for part in contents(plan.facts, v, None) for o in part.objs)


def _has_name(start: Start, thing: Obj) -> bool:
    """A class has its own; what a model holds has none here."""
    return thing in start.texts or thing.kind != "instance"


def _is_buffer(plan: Reading, attribute: str) -> bool:
    """It belongs to a model's state."""
    calls = [c.node for c in plan.facts.calls.values() if getattr(c.node.func, "attr", "") == "register_buffer"]
    return any(isinstance(a, ast.Constant) and a.value == attribute for c in calls for a in c.args[:1])
