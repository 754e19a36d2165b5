"""What a training framework has trained, by the notebook's names."""

from __future__ import annotations

import ast

from nbddp.analysis import Plan
from nbddp.analysis.library import ACCELERATE, LIGHTNING, Use
from nbddp.analysis.syntax import walk
from nbddp.script.layout import Layout

KINDS = ("model", "optimizer", "scheduler", "scaler")


def framework_states(plan: Plan, use: Use, layout: Layout) -> dict[str, str]:
    """Variables of `train` that were handed over to be trained, and the expression for what has a bare state."""
    bound = {n for s in layout.body for n in plan.flow.effects[s.index].binds}
    found: dict[str, str] = {}
    for call in (n for s in layout.body for n in walk(s.node) if isinstance(n, ast.Call)):
        if use.framework is ACCELERATE:
            found |= _prepared(plan, use, call)
        elif call in use.trained or call in use.made:
            given = [k.value for k in call.keywords if k.arg == "model"]
            given += call.args[:1] if use.framework is LIGHTNING and call in use.trained else []
            found |= {n.id: n.id for n in given if isinstance(n, ast.Name)}
    return {name: text for name, text in found.items() if name in bound}


def _prepared(plan: Plan, use: Use, call: ast.Call) -> dict[str, str]:
    """`accelerator.prepare(model, optimizer, loader)`: the model has been wrapped."""
    if not isinstance(call.func, ast.Attribute) or call.func.attr != "prepare":
        return {}
    accelerator = ast.unparse(call.func.value)
    found = {}
    for part in call.args if accelerator in use.names else ():
        held = plan.facts.value(part).of(*KINDS)
        if held and isinstance(part, ast.Name):
            is_model = any(o.kind == "model" for o in held)
            found[part.id] = f"{accelerator}.unwrap_model({part.id})" if is_model else part.id
    return found
