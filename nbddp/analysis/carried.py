"""Plain values that a loop over epochs carries from one turn to the next: the best so far, patience, histories."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from nbddp.analysis.domain import Value
from nbddp.analysis.effects import effects, local_names, root_name
from nbddp.analysis.facts import LoopFact
from nbddp.analysis.plan import Plan
from nbddp.analysis.scope import readable

HOLDERS = ("list", "dict")
FILLS = ("append", "extend", "insert", "update", "setdefault", "pop", "popitem", "popleft", "clear", "remove")


def carried(plan: Plan, fact: LoopFact) -> list[str]:
    """Their names, as far as the code around the loop can give them a new value."""
    if not isinstance(fact.node, ast.For | ast.While):
        return []
    found = effects(fact.node.body, plan.flow.imports)
    held = {n for part in fact.node.body for n in _filled(part) if n in fact.names and fact.names[n].of(*HOLDERS)}
    names = (found.may_bind & found.reads) | (found.may_bind - found.binds) | held
    return sorted(n for n in names if n in fact.names and _is_own(plan, fact, n) and _is_plain(plan, fact, n))


def _filled(part: ast.stmt) -> Iterator[str]:
    """Lists and dictionaries that get something: `losses.append(…)`, `history["loss"] += […]`, `best[phase] = …`."""
    for node in ast.walk(part):
        match node:
            case ast.Call(func=ast.Attribute(value=holder, attr=attr)) if attr in FILLS:
                yield root_name(holder) or ""
            case ast.Subscript(ctx=ast.Store()):
                yield root_name(node) or ""


def _is_own(plan: Plan, fact: LoopFact, name: str) -> bool:
    function = plan.program.function_of(fact.node)
    return name in local_names(function) if function is not None else readable(plan, fact.node, name)


def _is_plain(plan: Plan, fact: LoopFact, name: str) -> bool:
    """No thing that has a state of its own, and the same on all ranks wherever the loop looks at it."""
    seen = [plan.facts.value(n) for n in ast.walk(fact.node) if isinstance(n, ast.Name) and n.id == name]
    values = [fact.names[name], *seen]
    return all(o.kind in HOLDERS and o.owner is None for v in values for o in v.objs) and not any(
        varies_within(plan, value) for value in values
    )


def varies_within(plan: Plan, value: Value, depth: int = 3) -> bool:
    """Does it differ between ranks, or anything that it holds?"""
    inner = [v for o in value.of(*HOLDERS) if (v := plan.facts.fields.get((o, "[]"))) is not None]
    return value.varies or (depth > 0 and any(varies_within(plan, v, depth - 1) for v in inner))
