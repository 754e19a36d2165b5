"""Names by which code at a place can reach the models, optimizers and schedulers of the training.

A name stands for a thing where it holds it, and for nothing where it holds one of several: of optimizers that a loop
has put into a list, a variable left over from another loop over them is the last.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Set
from dataclasses import dataclass

from nbddp.analysis.reading.reading import Reading
from nbddp.analysis.slicing import local_names
from nbddp.analysis.syntax import Statement, walk
from nbddp.analysis.values import ITEMS, Literal, Loop, LoopFact, Obj, Value, join, sources


def state_in_scope(plan: Reading, fact: LoopFact) -> dict[str, str]:
    """But for what only the loop itself binds, `for net, optimizer in zip(nets, optimizers)`, and what comes later.

    A cell may have another model of that name: in a function that binds it in the loop, there is none before the loop.
    """
    own = _only_its_own(plan, fact) | fact.sometimes
    names = {name: value for name, value in fact.names.items() if name not in own}
    return state_named(plan, fact.node, names)


def _only_its_own(plan: Reading, fact: LoopFact) -> set[str]:
    if not isinstance(fact.node, ast.For | ast.AsyncFor):
        return set()
    targets = {n.id for n in walk(fact.node.target) if isinstance(n, ast.Name)}
    around = plan.program.function_of(fact.node)
    code = walk(around) if around is not None else plan.nodes()
    above = [n for n in code if isinstance(n, ast.Name | ast.arg) and n.lineno < fact.node.lineno]
    bound = {n.id for n in above if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    own = targets if around is None else targets | local_names(around)
    return own - bound - {n.arg for n in above if isinstance(n, ast.arg)}


def state_named(plan: Reading, node: ast.AST, names: Mapping[str, Value]) -> dict[str, str]:
    """Keyword and expression for each thing whose state a checkpoint needs; models first."""
    found: dict[str, str] = {}
    models = {m.obj for m in plan.roles.models}
    for group in (models | plan.roles.followers, plan.roles.optimizers, plan.roles.schedulers, scalers(plan)):
        for text in expressions_for(plan, node, names, group):
            found.setdefault("_".join(re.findall(r"\w+", text.rsplit(".", 1)[-1])), text)
    return found


def held_in_containers(plan: Reading, fact: LoopFact) -> list[str]:
    """Names of lists and dictionaries with models, optimizers or schedulers that no name of their own reaches."""
    roles = {m.obj for m in plan.roles.models} | plan.roles.followers | plan.roles.optimizers | plan.roles.schedulers
    state = state_in_scope(plan, fact).values()
    reached = {o for text in state for o in held_by(plan, fact.node, fact.names, text)}
    found = []
    for name, value in sorted(fact.names.items()):
        inside = {o for v in sources(plan.facts, value, ITEMS) for o in v.objs} - value.objs
        if inside & roles - reached and readable(plan, fact.node, name):
            found.append(name)
    return found


@dataclass(frozen=True, eq=False)
class SingleStart:
    """Without a loop over epochs there is one start, before all that trains."""

    statement: Statement
    names: Mapping[str, Value]
    state: Mapping[str, str]


def single_start(plan: Reading) -> SingleStart | None:
    """None where loops over epochs start, or nothing that could."""
    first = next(iter(plan.training), None)
    if plan.roles.epoch_loops or first is None:
        return None
    bound = {n for s in plan.kept if s.index < first.index for n in plan.flow.effects[s.index].binds}
    names = {n: v for n, v in plan.facts.final.items() if n in bound}
    return SingleStart(first, names, state_named(plan, first.node, names))


def scalers(plan: Reading) -> frozenset[Obj]:
    return frozenset(o for v in plan.facts.values.values() for o in v.of("scaler"))


def expressions_for(
    plan: Reading,
    node: ast.AST,
    names: Mapping[str, Value],
    wanted: Set[Obj],
    allowed: Set[Obj] = frozenset(),
    *,
    surely: bool = False,
) -> list[str]:
    """The fewest names and attributes that stand for things of the group, and else only for those that are allowed.

    `surely`: what may be None comes last.
    """
    found: list[str] = []
    missing = set(wanted)
    kinds = {o.kind for o in wanted}
    by_preference = sorted(
        _readable(plan, node, names), key=lambda pair: _preference(plan, node, pair[0], pair[1], kinds)
    )
    for text, value in sorted(by_preference, key=lambda pair: surely and isinstance(pair[1].const, Literal)):
        held = value.of(*kinds)
        if held & missing and held <= wanted | allowed and not one_of_several(plan, node, names, text):
            found.append(text)
            missing -= held
    found = [text for text in found if not text.startswith(tuple(f"{whole}." for whole in found))]  # parts come with it
    return sorted(found, key=lambda t: min(_line(o) for o in held_by(plan, node, names, t) if o.kind in kinds))


def _preference(plan: Reading, node: ast.AST, text: str, value: Value, kinds: set[str]) -> tuple[bool, bool, int, str]:
    """What the function around calls its own before names of the cells; what surely is one thing; short ones."""
    own = _is_of_a_function(plan, node, text.split(".", maxsplit=1)[0])
    return not own, len(value.of(*kinds)) > 1, len(text), text


def held_by(plan: Reading, node: ast.AST, names: Mapping[str, Value], text: str) -> frozenset[Obj]:
    """What such a name or attribute stands for."""
    return next((v.objs for t, v in _readable(plan, node, names) if t == text), frozenset())


def _line(obj: Obj) -> int:
    return getattr(obj.site or obj.node, "lineno", 0)


def _readable(plan: Reading, node: ast.AST, names: Mapping[str, Value]) -> list[tuple[str, Value]]:
    found = [(n, v) for n, v in names.items() if readable(plan, node, n)]
    holders = [(n, o) for n, v in found for o in v.of("instance", "model")]
    for (owner, field), value in plan.facts.fields.items():
        if field.isidentifier():
            found += [(f"{name}.{field}", value) for name, obj in holders if obj == owner]
    kept = [(n, o) for n, v in found for o in v.of("list", "dict") if len(v.objs) == 1]
    found += [(f"{name}{step}", value) for name, obj in kept for step, value in items_of(plan, obj).items()]
    by_text: dict[str, Value] = {}
    for text, value in found:  # `self.model` is that of either object, where a method is called on two
        by_text[text] = join(by_text.get(text, value), value)
    return list(by_text.items())


def items_of(plan: Reading, holder: Obj) -> dict[str, Value]:
    """`["g"]` and `[0]` of a dictionary or a list that is written out: those are surely there."""
    made = holder.node
    if isinstance(made, ast.List) and not any(isinstance(part, ast.Starred) for part in made.elts):
        return {f"[{i}]": plan.facts.value(part) for i, part in enumerate(made.elts)}
    keys = [k.value for k in made.keys if isinstance(k, ast.Constant)] if isinstance(made, ast.Dict) else []
    known = {f'["{k}"]': plan.facts.fields.get((holder, f"[{k!r}]")) for k in keys if isinstance(k, str)}
    return {step: value for step, value in known.items() if value is not None}


def steps_of(text: str) -> list[str]:
    """`["trainer", "optimizers", '["g"]']` of `trainer.optimizers["g"]`."""
    return re.findall(r"[^.\[\]]+|\[[^\]]*\]", text)


def readable(plan: Reading, node: ast.AST, name: str) -> bool:
    """Is the name one of the functions around, or one that the cells bind?"""
    return _is_of_a_function(plan, node, name) or name in plan.bound


def _is_of_a_function(plan: Reading, node: ast.AST, name: str) -> bool:
    """Of one around the place."""
    around = plan.program.function_of(node)
    while around is not None:
        if name in local_names(around):
            return True
        around = plan.program.function_of(around)
    return False


def expressions_among(
    plan: Reading, node: ast.AST, names: Mapping[str, Value], obj: Obj, allowed: Set[Obj]
) -> list[str]:
    """Names and attributes that may stand for this thing at a place, else only for those allowed, never for None."""
    found = sorted(_readable(plan, node, names), key=lambda pair: _preference(plan, node, pair[0], pair[1], {obj.kind}))
    fits = (pair for pair in found if obj in pair[1].objs and not isinstance(pair[1].const, Literal))
    return [text for text, value in fits if value.of(obj.kind) <= allowed]


def one_of_several(plan: Reading, node: ast.AST, names: Mapping[str, Value], text: str) -> bool:
    """Does a name hold, at this place, one of the things that a container keeps?

    So it does where a loop has made them, and where it is left over from a loop that went through them. The turn of a
    loop around is about the one that the loop is at: there its variable is right.
    """
    here = _loops_around(plan, node)
    root, field = re.split(r"[.\[]", text, maxsplit=1)[0], text.partition(".")[2]
    if any(_binds(loop, root) for loop in here):
        return False
    held = names[root].objs if "[" not in text else frozenset()
    held |= {o for owner in held for o in plan.facts.fields.get((owner, field), Value()).objs}
    kept = [obj for obj in held if _kept(plan, obj)]
    return any(_made_in(plan, obj) - here for obj in kept) or bool(kept and _is_left_over(plan, node, root))


def _is_left_over(plan: Reading, node: ast.AST, name: str) -> bool:
    """Is it the variable of a loop beside, in the function around?"""
    function = plan.program.function_of(node)
    loops = [n for n in plan.nodes() if isinstance(n, ast.For | ast.AsyncFor) and _binds(n, name)]
    return any(plan.program.function_of(loop) is function for loop in loops)


def _made_in(plan: Reading, obj: Obj) -> Set[Loop]:
    made = plan.facts.calls.get(obj.node) if isinstance(obj.node, ast.Call) else None
    return made.loops if made is not None else frozenset()


def _kept(plan: Reading, obj: Obj) -> bool:
    fields = plan.facts.fields.items()
    return any(name == "[]" and owner.kind in ("list", "dict") and obj in v.objs for (owner, name), v in fields)


def _loops_around(plan: Reading, node: ast.AST) -> Set[Loop]:
    """Also those of callers; a loop itself begins where it is not yet around."""
    if node in plan.facts.loops:
        return plan.facts.loops[node].parents
    if isinstance(node, ast.Call) and node in plan.facts.calls:
        return plan.facts.calls[node].loops
    loop = next((n for n in plan.program.ancestors(node) if n in plan.facts.loops), None)
    return plan.facts.loops[loop].parents | {loop} if loop is not None else frozenset()


def _binds(loop: Loop, name: str) -> bool:
    target = getattr(loop, "target", None)
    return isinstance(target, ast.expr) and any(isinstance(n, ast.Name) and n.id == name for n in walk(target))
