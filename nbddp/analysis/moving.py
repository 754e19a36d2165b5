"""Models whose parameters the code moves by hand: moving averages, teachers, targets."""

from __future__ import annotations

import ast

from nbddp.analysis.domain import Obj, Value
from nbddp.analysis.machine import Machine

SAME_STORAGE = frozenset({"data", "detach", "view", "flatten", "view_as", "reshape"})


def moved_by_hand(m: Machine, target: ast.expr) -> None:
    """Note the models to which it belongs: `p` of `model.parameters()`, also as `p.data` or `p[0]`."""
    while True:
        if isinstance(target, ast.Attribute) and target.attr in SAME_STORAGE:
            target = target.value
        elif isinstance(target, ast.Subscript):
            target = target.value
        elif isinstance(target, ast.Call) and isinstance(target.func, ast.Attribute):
            if target.func.attr not in SAME_STORAGE and not target.func.attr.endswith("_"):
                return
            target = target.func.value
        else:
            break
    value = m.lookup(target.id) if isinstance(target, ast.Name) else m.facts.values.get(target)
    for obj in _owners(m, value or Value(), 0):
        m.facts.changed.setdefault(obj, set()).update(a.fact.node for a in m.loops)


def _owners(m: Machine, value: Value, depth: int) -> set[Obj]:
    held = {o.owner or o for o in value.of("params", "parameter", "submodule", "model")}
    for container in value.of("list", "iterator") if depth < 3 else ():
        for name in ("[]", "of"):
            held |= _owners(m, m.get(container, name) or Value(), depth + 1)
    return {o for o in held if o.kind == "model"}
