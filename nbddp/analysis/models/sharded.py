"""Sharded models (`--shard`): where each is one, and which calls all ranks have to make together."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from nbddp.analysis.models.wrap_points import Home
from nbddp.analysis.reading import Reading
from nbddp.analysis.syntax import walk
from nbddp.analysis.values import CallFact, Obj

STATES = ("state_dict", "load_state_dict")


def is_behind(plan: Reading, node: ast.AST, home: Home, seen: frozenset[ast.AST] = frozenset()) -> bool:
    """May it run when the model is complete, and sharded?"""
    function = plan.program.function_of(node)
    for place in _ways_to(plan, home.ready, frozenset()):
        if plan.program.function_of(place) is function:
            return plan.program.span(node)[0] >= plan.program.span(place)[1]
    if function is None or function in seen:
        return True
    calls = plan.callers.get(function, [])
    return not calls or any(is_behind(plan, call, home, seen | {function}) for call in calls)


def is_sharded_at(plan: Reading, node: ast.AST, homes: Mapping[Obj, Home]) -> bool:
    """May what is named there be sharded by then? Where it is not known which model is, any."""
    named = {o for n in walk(node) for o in plan.facts.value(n).objs}
    wholes = {o.owner or o for o in named} | {m.obj for m in plan.roles.models if m.optimizers & named}
    models = wholes.union(*map(plan.facts.roots, wholes)) & homes.keys()
    return any(is_behind(plan, node, homes[m]) for m in models or homes)


def _ways_to(plan: Reading, place: ast.stmt | ast.Call, seen: frozenset[ast.AST]) -> Iterator[ast.stmt | ast.Call]:
    """The place, and the calls by which one comes to it."""
    yield place
    function = plan.program.function_of(place)
    if function is not None and function not in seen:
        for call in plan.callers.get(function, []):
            yield from _ways_to(plan, call, seen | {function})


def trained(plan: Reading) -> frozenset[Obj]:
    return frozenset(m.obj for m in plan.roles.models)


def is_part(plan: Reading, obj: Obj) -> bool:
    """Is it a model that is trained, or a part of one?"""
    whole = obj.owner or obj
    return whole.kind == "model" and bool(plan.facts.roots(whole) & trained(plan) or whole in trained(plan))


def is_of_state(plan: Reading, node: ast.AST) -> bool:
    """`model.state_dict()`, `optimizer.load_state_dict(…)`, of what is sharded."""
    call = plan.facts.calls.get(node) if isinstance(node, ast.Call) else None
    if call is None or not isinstance(call.node.func, ast.Attribute) or call.node.func.attr not in STATES:
        return False
    held = plan.facts.value(call.node.func.value).objs
    return any(o in plan.roles.optimizers or is_part(plan, o) for o in held)


def loaded_states(plan: Reading) -> Iterator[CallFact]:
    """`torch.load(…)` of which a sharded model, or its optimizer, takes its state."""
    states = [n for n in plan.facts.calls if is_of_state(plan, n) and ast.unparse(n.func).endswith("load_state_dict")]
    inside = {n for call in states for n in walk(call)}
    names = {n.id for call in states for argument in call.args for n in walk(argument) if isinstance(n, ast.Name)}
    for call in plan.calls("torch.load"):
        parent = plan.program.parents[call.node]
        bound = {ast.unparse(t) for t in parent.targets} if isinstance(parent, ast.Assign) else set()
        if plan.options.shard and (call.node in inside or bound & names):
            yield call


def gathers(plan: Reading, node: ast.AST) -> bool:
    """Do all ranks have to come here, because parts of a sharded model are put together?"""
    fact = plan.facts.calls.get(node) if isinstance(node, ast.Call) else None
    return fact is not None and plan.options.shard is True and (is_of_state(plan, node) or calls_sharded(plan, fact))


def calls_sharded(plan: Reading, call: CallFact) -> bool:
    """Does the call go through such a model, or through a part of it, from outside?"""
    if call.in_forward:
        return False
    runs = call.called | ({owner for _, owner in call.methods} if call.runs_modules else set())
    return any(o.kind in ("model", "submodule") and is_part(plan, o) for o in runs)
