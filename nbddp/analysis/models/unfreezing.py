"""Parameters that are frozen, freed or moved once the training has begun: DDP looks at them once, when it wraps."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Set
from typing import Any

from nbddp.analysis.models.devices import uses_gpu
from nbddp.analysis.reading import Reading
from nbddp.analysis.values import CallFact, Loop, Obj

KINDS = ("half", "double", "bfloat16")


def thaws_later(plan: Reading, model: Obj) -> bool:
    """Within a loop that trains, or between two trainings; a function may do it for either."""
    loops = _loops_of(plan, model)
    return any(_is_late(plan, model, node, loops, frozenset()) for node in switches(plan, model, loops))


def moved_later(plan: Reading, model: Obj) -> bool:
    """`model.cpu()` to save it, then `model.to(device)`: torch forgets by what DDP averages the gradients.

    Of a weight it makes a copy.
    """
    loops = _loops_of(plan, model)
    away = ((c, {o for o in c.receivers if o.kind != "parameter"}) for c in plan.facts.calls.values())
    moves = [c for c, moved in away if _moves_away(plan, c) and belong_to(plan, moved, model)]
    return any(_is_late(plan, model, call.node, loops, frozenset()) for call in moves)


def _moves_away(plan: Reading, call: CallFact) -> bool:
    """To the processor by name, or to numbers of another kind."""
    attr = call.node.func.attr if isinstance(call.node.func, ast.Attribute) else ""
    named = [*call.node.args, *(k.value for k in call.node.keywords)]
    away = attr == "cpu" or (attr == "to" and any(_is_processor(plan, a) for a in named))
    return attr in KINDS or (away and uses_gpu(plan))


def _is_processor(plan: Reading, node: ast.expr) -> bool:
    """By its name, or one that is nothing else: `cuda if there is one else cpu` is where the model is anyway."""
    devices = plan.facts.value(node).of("device")
    named = [a for o in devices if isinstance(o.node, ast.Call) for a in o.node.args[:1]] or [node]
    return len(named) == max(len(devices), 1) and all(plan.facts.value(n).const == "cpu" for n in named)


def set_in_each_turn(plan: Reading, model: Obj, loop: ast.AST) -> bool:
    """Before the turn runs the model, whatever the turn before has left: `for p in critic.parameters(): ...`."""
    order = plan.program.span
    found = sorted({p for n in switches(plan, model, []) for p in _in_loop(plan, loop, n)}, key=order)
    calls = (c for m in plan.roles.models if m.obj == model for c in m.forward_calls)
    runs = [order(p) for c in calls for p in _in_loop(plan, loop, c)]
    always = not any(isinstance(a, ast.If | ast.Try) and loop in plan.program.ancestors(a)
                     for s in found for a in plan.program.ancestors(s))  # fmt: skip
    alike = len({ast.unparse(_switched(plan, s)) for s in found}) == 1
    return always and alike and order(found[0]) < min(runs, default=order(loop))


def _in_loop(plan: Reading, loop: ast.AST, node: ast.AST, seen: Set[ast.AST] = frozenset()) -> Iterator[ast.AST]:
    """The node, where it stands in the loop; else the calls there that lead to it."""
    function = plan.program.function_of(node)
    if loop in plan.program.ancestors(node):
        yield node
    elif function is not None and function not in seen:
        for caller in plan.callers.get(function, []):
            yield from _in_loop(plan, loop, caller, {*seen, function})


def _switched(plan: Reading, switch: ast.AST) -> ast.AST:
    """`critic.parameters()` of a loop over them, `critic` of `critic.requires_grad_(False)` and `freeze(critic)`."""
    match switch:
        case ast.Attribute(value=ast.Name(id=name)):
            around = (a for a in plan.program.ancestors(switch) if isinstance(a, ast.For))
            return next((a.iter for a in around if isinstance(a.target, ast.Name) and a.target.id == name), switch)
        case ast.Attribute(value=thing) | ast.Call(func=ast.Attribute(value=thing, attr="requires_grad_")):
            return thing
        case ast.Call(args=[thing, *_]):
            return thing
    return switch


def switches(plan: Reading, model: Obj, loops: list[Loop]) -> Iterator[ast.expr]:
    for call in plan.facts.calls.values():
        if isinstance(call.node.func, ast.Attribute) and call.node.func.attr == "requires_grad_":
            if belong_to(plan, call.receivers, model):
                yield call.node
    for node in plan.nodes():
        if isinstance(node, ast.Attribute) and node.attr == "requires_grad" and isinstance(node.ctx, ast.Store):
            things, samples = plan.facts.value(node.value).objs, plan.facts.value(node.value).varies
            unknown = not (things or samples) and not set(loops).isdisjoint(plan.program.ancestors(node))
            if belong_to(plan, things, model) or (unknown and not _is_data(plan, node.value)):
                yield node


def _is_data(plan: Reading, node: ast.expr) -> bool:
    """`x.requires_grad = True`, of a batch that all ranks have whole, or of points: `torch.rand(12, 2)`."""
    made = [plan.facts.value(n) for n in plan.bindings.made_of(node)]
    data = any(v.of("loader", "dataset") for v in made) or plan.facts.value(node).rank is not None
    return data and not any(v.of("model", "params", "parameter") for v in made)


def belong_to(plan: Reading, things: Iterable[Obj], model: Obj) -> bool:
    """Are they the model, parts of it, or parameters of either?"""
    owners = {part for o in things for part in (o, o.owner) if part is not None}
    return any(model == owner or model in plan.facts.roots(owner) for owner in owners)


def _is_late(plan: Reading, model: Obj, node: ast.expr, loops: list[Loop], seen: Set[ast.AST]) -> bool:
    function = plan.program.function_of(node)
    trainings = _trainings(plan, loops, function)
    if not trainings.isdisjoint(plan.program.ancestors(node)):
        return True
    if any(_comes_again(plan, model, around, trainings) for around in plan.program.ancestors(node)):
        return True
    built = [n for n in _places(model) if plan.program.function_of(n) is function]
    lines = sorted(t.lineno for t in trainings if all(n.lineno < t.lineno for n in built))
    if lines and lines[0] < node.lineno < lines[-1]:
        return True
    if function is None or function in seen:
        return False
    callers = plan.callers.get(function, [])
    return any(_is_late(plan, model, caller, loops, {*seen, function}) for caller in callers)


def _comes_again(plan: Reading, model: Obj, around: ast.AST, trainings: Set[ast.AST]) -> bool:
    """Is this a loop that trains the same model in each of its turns?"""
    if not isinstance(around, ast.For | ast.AsyncFor | ast.While):
        return False
    inside = any(around in plan.program.ancestors(place) for place in _places(model))
    return not inside and any(around in plan.program.ancestors(training) for training in trainings)


def _places(model: Obj) -> list[Any]:
    """Where it is built: in a function, and where that is called."""
    return [place for place in (model.node, model.site) if place is not None]


def _loops_of(plan: Reading, model: Obj) -> list[Loop]:
    """Those in which its optimizers step; all, where it is not known which these are."""
    loops = [f.node for f in (*plan.roles.epoch_loops, *plan.roles.batch_loops)]
    loops = loops or [node for node, fact in plan.facts.loops.items() if fact.backward]
    own = frozenset[Obj]().union(*(m.optimizers for m in plan.roles.models if m.obj == model))
    steps = [c.loops for c in plan.facts.calls.values() if c.optimizers & own]
    return [loop for loop in loops if any(loop in around for around in steps)] or loops


def _trainings(plan: Reading, loops: list[Loop], function: ast.AST | None) -> set[ast.stmt | ast.expr]:
    """Such loops in this function, or at the top level, and calls of functions that have one."""
    bodies = {plan.program.function_of(loop) for loop in loops} - {None}
    calls = [c.node for c in plan.facts.calls.values() if not bodies.isdisjoint(c.bodies)]
    places: list[ast.stmt | ast.expr] = [*(n for n in loops if not isinstance(n, ast.comprehension)), *calls]
    return {place for place in places if plan.program.function_of(place) is function}
