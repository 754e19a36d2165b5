"""Names by which code at a loop can reach the models, optimizers and schedulers of the training."""

from __future__ import annotations

import ast

from nbddp.analysis.domain import Obj
from nbddp.analysis.effects import local_names
from nbddp.analysis.facts import LoopFact
from nbddp.analysis.plan import Plan


def state_in_scope(plan: Plan, fact: LoopFact) -> dict[str, str]:
    """Keyword and expression for each thing whose state a checkpoint needs; models first."""
    wanted: list[Obj] = [m.obj for m in plan.roles.models]
    wanted += sorted(plan.roles.optimizers | plan.roles.schedulers | scalers(plan), key=_line)
    found: dict[str, str] = {}
    for obj in wanted:
        text = expression_for(plan, fact, obj)
        if text is not None:
            found.setdefault(text.rsplit(".", 1)[-1], text)
    return found


def scalers(plan: Plan) -> set[Obj]:
    return {o for v in plan.facts.values.values() for o in v.of("scaler")}


def _line(obj: Obj) -> int:
    return getattr(obj.node, "lineno", 0)


def expression_for(plan: Plan, fact: LoopFact, obj: Obj) -> str | None:
    """A name, or an attribute of `self`, that stands for just this thing where the loop is."""
    names = sorted(n for n, v in fact.names.items() if v.of(obj.kind) == {obj} and readable(plan, fact.node, n))
    if names:
        return min(names, key=len)
    for holder, value in fact.names.items():
        for instance in value.objs:
            if instance.kind in ("instance", "model") and readable(plan, fact.node, holder):
                for (owner, field), inner in plan.facts.fields.items():
                    if owner == instance and field.isidentifier() and inner.of(obj.kind) == {obj}:
                        return f"{holder}.{field}"
    return None


def readable(plan: Plan, node: ast.AST, name: str) -> bool:
    """Is the name one of the function around, or one that the cells bind?"""
    function = plan.program.function_of(node)
    if function is not None and name in local_names(function):
        return True
    return any(name in plan.flow.effects[s.index].may_bind for s in plan.kept)
