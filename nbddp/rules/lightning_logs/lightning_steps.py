"""What the steps of a LightningModule keep themselves, and show: Lightning puts together what is logged, no more."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from nbddp.analysis import Plan
from nbddp.analysis.library import effect_of
from nbddp.analysis.syntax import qualified, walk

GATHERS = ("all_gather", "all_reduce", "reduce")


def shown_of_shares(plan: Plan, module: ast.ClassDef) -> Iterator[ast.stmt]:
    """`self.losses.append(loss)` in a step, where a method prints of it, or the notebook reads it of the module."""
    methods = [m for m in module.body if isinstance(m, ast.FunctionDef)]
    if any(isinstance(n, ast.Attribute) and n.attr in GATHERS for n in walk(module)):
        return
    inside = set(walk(module))
    outside = {n.attr for n in plan.nodes() if isinstance(n, ast.Attribute) and n not in inside}
    shown = {name for m in methods if _shows(plan, m) for name in _attributes(m)}
    told: set[str] = set()
    for statement in (s for m in methods if m.name.endswith("_step") for s in walk(m) if isinstance(s, ast.stmt)):
        name = _kept(statement)
        if name in (outside | shown) - told:
            told.add(name)
            yield statement


def _shows(plan: Plan, method: ast.FunctionDef) -> bool:
    calls = [n.func for n in walk(method) if isinstance(n, ast.Call)]
    own = any(isinstance(f, ast.Attribute) and f.attr == "print" for f in calls)
    return own or any(effect_of(qualified(f, plan.flow.imports) or "").out == "shown" for f in calls)


def _attributes(method: ast.FunctionDef) -> set[str]:
    return {n.attr for n in walk(method) if isinstance(n, ast.Attribute) and _is_own(n)}


def _is_own(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"


def _kept(statement: ast.stmt) -> str:
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=place, attr="append" | "extend"))):
            return _own_name(place)
        case ast.AugAssign(target=place):
            return _own_name(place)
    return ""


def _own_name(place: ast.expr) -> str:
    """`losses` of `self.losses`, and of `self.losses["train"]`."""
    while isinstance(place, ast.Subscript):
        place = place.value
    return place.attr if isinstance(place, ast.Attribute) and _is_own(place) else ""
