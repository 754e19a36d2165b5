"""Evaluation loaders that surely draw their batches in the order of their data, the same on all ranks."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from nbddp.analysis import Plan
from nbddp.analysis.loaders import LoaderCall, loader_call
from nbddp.analysis.slicing import defaults
from nbddp.analysis.syntax import walk
from nbddp.analysis.values import Obj

OWN = ("sampler", "batch_sampler")


def draws_in_order(plan: Plan, obj: Obj) -> bool:
    call = loader_call(plan, obj)
    if call is None or obj in plan.facts.classes or len(call.node.args) > 2:
        return False
    hidden = set[str]() if call.plain else _hidden(plan, call)
    if hidden is None or hidden & {*OWN, "shuffle"} or any(call.gives(a) for a in OWN):
        return False
    return not _may_shuffle(plan, call) and not any(_are_one(obj, o) for o in plan.sharding.loaders)


def _are_one(a: Obj, b: Obj) -> bool:
    """Does the same call build them, called from the same place?"""
    return a.node is b.node and a.site is b.site


def _hidden(plan: Plan, call: LoaderCall) -> set[str] | None:
    """The keys of its `**kwargs`, where each of them is written in the notebook."""
    if any(isinstance(a, ast.Starred) for a in call.node.args) or not call.obj.name.endswith(".DataLoader"):
        return None
    given = [k.value for k in call.node.keywords if k.arg is None]
    found = [_keys(plan, node, frozenset()) for node in given]
    return None if None in found else set().union(*(keys for keys in found if keys))


def _keys(plan: Plan, node: ast.expr, seen: frozenset[ast.AST]) -> frozenset[str] | None:
    """Those that a dictionary is written with, that are set one by one, and those of what updates it."""
    holders = plan.facts.value(node).of("dict")
    if not holders or node in seen or any(not isinstance(o.node, ast.Dict) or None in o.node.keys for o in holders):
        return None
    keys = {field for field, _ in plan.facts.fields.of(*holders) if field != "[]"}
    if any(not field.startswith("['") for field in keys):
        return None
    found = [frozenset(field[2:-2] for field in keys)]
    for update in _updates(plan, holders):
        if update.keywords or len(update.args) != 1:
            return None
        if (more := _keys(plan, update.args[0], seen | {node})) is None:
            return None
        found.append(more)
    return frozenset().union(*found)


def _updates(plan: Plan, holders: frozenset[Obj]) -> Iterator[ast.Call]:
    for node in plan.nodes():
        match node:
            case ast.Call(func=ast.Attribute(attr="update", value=owner)) if plan.facts.value(owner).objs & holders:
                yield node


def _may_shuffle(plan: Plan, call: LoaderCall) -> bool:
    node = call.arguments.get("shuffle")
    if isinstance(node, ast.Name):
        node = _passed(plan, call.obj, node.id)
        return not isinstance(node, ast.Constant) or bool(node.value)
    return node is not None and (not isinstance(node, ast.Constant) or bool(node.value))


def _passed(plan: Plan, obj: Obj, name: str) -> ast.expr | None:
    """What the call that builds the loader gives to the function for this parameter."""
    function, site = plan.program.function_of(obj.node), obj.site
    if not (isinstance(function, ast.FunctionDef) and isinstance(site, ast.Call) and isinstance(site.func, ast.Name)):
        return None
    fact = plan.facts.calls.get(site)
    unclear = any(isinstance(a, ast.Starred) for a in site.args) or any(k.arg is None for k in site.keywords)
    stored = (n for n in walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
    if fact is None or fact.bodies != {function} or unclear or any(n.id == name for n in stored):
        return None
    given = [*function.args.posonlyargs, *function.args.args]
    otherwise = {argument.arg: default for argument, default in defaults(function.args)}
    told = dict(zip((a.arg for a in given), site.args, strict=False))
    return {**otherwise, **told, **{k.arg: k.value for k in site.keywords if k.arg}}.get(name)
