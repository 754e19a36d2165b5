"""What is written out, shown by its name, and goes nowhere else: `row = {"loss": loss}; log(row)`, or a text."""

from __future__ import annotations

import ast

from nbddp.analysis.combining import lets_out
from nbddp.analysis.library import effect_of
from nbddp.analysis.reading import Reading
from nbddp.analysis.syntax import blocks_around


def displayed(plan: Reading, call: ast.Call, name: ast.Name) -> ast.expr | None:
    """What the name holds in the call, where all ranks that come to the call have come by it."""
    node = _dictionary(plan, name) or _text(plan, name)
    in_step = {f.node for f in plan.roles.batch_loops}  # of which all ranks take as many turns
    if node is None or not set(blocks_around(plan.program, node)) - in_step <= set(blocks_around(plan.program, call)):
        return None
    return node if all(_is_shown(plan, n) for n in _reads(plan, name)) else None


def always_displayed(plan: Reading, name: ast.Name) -> bool:
    """Is it shown so wherever it is read?"""
    reads = _reads(plan, name)
    calls = [next((a for a in plan.program.ancestors(n) if isinstance(a, ast.Call)), None) for n in reads]
    return all(c is not None and displayed(plan, c, n) is not None for c, n in zip(calls, reads, strict=True))


def _dictionary(plan: Reading, name: ast.Name) -> ast.Dict | None:
    things = plan.facts.value(name).objs
    node = next(iter(things)).node if len(things) == 1 else None
    written = isinstance(node, ast.Dict) and None not in node.keys and _as_written(plan, next(iter(things)), node)
    return node if written and isinstance(node, ast.Dict) else None


def _text(plan: Reading, name: ast.Name) -> ast.expr | None:
    places = (n for n in plan.nodes() if isinstance(n, ast.Name) and n.id == name.id and isinstance(n.ctx, ast.Store))
    match [plan.program.parents[n] for n in places]:
        case [ast.Assign(targets=[ast.Name()], value=ast.JoinedStr() as text)]:
            return text
        case [ast.Assign(targets=[ast.Name()], value=ast.BinOp(left=ast.Constant(value=str()), op=ast.Mod()) as text)]:
            return text
        case [ast.Assign(targets=[ast.Name()], value=ast.Call(
            func=ast.Attribute(value=ast.Constant(value=str()), attr="format")) as text)]:  # fmt: skip
            return text
    return None


def _as_written(plan: Reading, thing: object, node: ast.Dict) -> bool:
    """Nothing was put into it since."""
    keys = {f"[{k.value!r}]" for k in node.keys if isinstance(k, ast.Constant)}
    return {field for owner, field in plan.facts.fields if owner == thing} <= keys | {"[]"}


def _reads(plan: Reading, name: ast.Name) -> list[ast.Name]:
    return [n for n in plan.nodes() if isinstance(n, ast.Name) and n.id == name.id and isinstance(n.ctx, ast.Load)]


def _is_shown(plan: Reading, name: ast.Name) -> bool:
    """Given to what shows or logs as it is, or as `**name` of another dictionary that is."""
    parent = plan.program.parents[name]
    if isinstance(parent, ast.Dict):
        at = parent.values.index(name)
        parent = plan.program.parents[parent] if parent.keys[at] is None else parent
    if isinstance(parent, ast.keyword):
        parent = plan.program.parents[parent]
    fact = plan.facts.calls.get(parent) if isinstance(parent, ast.Call) else None
    bar = fact is not None and effect_of(f".{getattr(fact.node.func, 'attr', '')}").bar
    return fact is not None and (lets_out(fact) or bool(bar))
