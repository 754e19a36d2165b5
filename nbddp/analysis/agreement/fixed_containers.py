"""Lists and dictionaries that are written out and keep their items: each rank goes through the same ones."""

from __future__ import annotations

import ast

from nbddp.analysis.reading import Reading
from nbddp.analysis.values import CallFact, Obj

VIEWS = ("items", "values", "keys")
KEEP = (*VIEWS, "get", "copy", "index", "count")


def is_fixed(plan: Reading, node: ast.expr) -> bool:
    """`meters` or `meters.items()`, where `meters = {"loss": Meter(), "error": Meter()}`."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in VIEWS:
        node = node.func.value
    held = plan.facts.value(node)
    things = held.of("list", "dict")
    return (
        bool(things)
        and things == held.objs
        and all(_is_written_out(o) and not _may_change_length(plan, o) for o in things)
    )


def _is_written_out(thing: Obj) -> bool:
    match thing.node:
        case ast.Dict(keys=keys):
            return None not in keys
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            return not any(isinstance(e, ast.Starred) for e in elements)
    return False


def _may_change_length(plan: Reading, thing: Obj) -> bool:
    """May it get another number of items, anywhere?"""
    if any(thing in call.receivers and _method(call) not in KEEP for call in plan.facts.calls.values()):
        return True
    stored = (n for n in plan.nodes() if isinstance(n, ast.Subscript) and not isinstance(n.ctx, ast.Load))
    return any(thing in plan.facts.value(n.value).objs and not _is_given(n) for n in stored)


def _method(call: CallFact) -> str:
    return getattr(call.node.func, "attr", "")


def _is_given(node: ast.Subscript) -> bool:
    return isinstance(node.slice, ast.Constant) and isinstance(node.ctx, ast.Store)
