"""Dictionaries that are written out, shown by their name, and go nowhere else: `row = {"loss": loss}; log(row)`."""

from __future__ import annotations

import ast

from nbddp.analysis.plan import Plan

BLOCKS = ast.For | ast.AsyncFor | ast.While | ast.If | ast.Try | ast.FunctionDef | ast.AsyncFunctionDef


def displayed(plan: Plan, call: ast.Call, name: ast.Name) -> ast.Dict | None:
    """What the name holds in the call, where all ranks that come to the call have come by it."""
    things = plan.facts.value(name).objs
    node = next(iter(things)).node if len(things) == 1 else None
    if not isinstance(node, ast.Dict) or None in node.keys or not _as_written(plan, next(iter(things)), node):
        return None
    in_step = {f.node for f in plan.roles.batch_loops}  # of which all ranks take as many turns
    together = set(_around(plan, node)) - in_step <= set(_around(plan, call))
    return node if together and all(_is_shown(plan, n) for n in _reads(plan, name)) else None


def always_displayed(plan: Plan, name: ast.Name) -> bool:
    """Is it shown so wherever it is read?"""
    reads = _reads(plan, name)
    calls = [next((a for a in plan.program.ancestors(n) if isinstance(a, ast.Call)), None) for n in reads]
    return all(c is not None and displayed(plan, c, n) is not None for c, n in zip(calls, reads, strict=True))


def _as_written(plan: Plan, thing: object, node: ast.Dict) -> bool:
    """Nothing was put into it since."""
    keys = {f"[{k.value!r}]" for k in node.keys if isinstance(k, ast.Constant)}
    return {field for owner, field in plan.facts.fields if owner == thing} <= keys | {"[]"}


def _around(plan: Plan, node: ast.AST) -> list[ast.AST]:
    return [a for a in plan.program.ancestors(node) if isinstance(a, BLOCKS)]


def _reads(plan: Plan, name: ast.Name) -> list[ast.Name]:
    return [n for n in plan.nodes() if isinstance(n, ast.Name) and n.id == name.id and isinstance(n.ctx, ast.Load)]


def _is_shown(plan: Plan, name: ast.Name) -> bool:
    """Given to a call as it is, or as `**name` of another dictionary that is."""
    parent = plan.program.parents[name]
    if isinstance(parent, ast.Dict):
        at = parent.values.index(name)
        parent = plan.program.parents[parent] if parent.keys[at] is None else parent
    if isinstance(parent, ast.keyword):
        parent = plan.program.parents[parent]
    fact = plan.facts.calls.get(parent) if isinstance(parent, ast.Call) else None
    return fact is not None and not fact.bodies
