"""What a training draws at random between its passes over the data, where all ranks must draw the same."""

from __future__ import annotations

import ast

from nbddp.analysis import Plan
from nbddp.analysis.library import Stream, effect_of, is_class
from nbddp.analysis.values import CallFact


def draws_between(plan: Plan) -> bool:
    """Does an epoch draw data or weights outside of its batches, or ask a model, which may draw its dropout?"""
    epochs = {f.node for f in plan.roles.epoch_loops}
    passes = {f.node for f in (*plan.roles.batch_loops, *plan.roles.evaluation_loops)}
    asked = {call for model in plan.roles.models for call in (*model.forward_calls, *model.bypasses)}
    between = (c for c in plan.facts.calls.values() if c.loops & epochs and not c.loops & passes)
    return any(call.node in asked or _draws(call) for call in between)


def _draws(call: CallFact) -> bool:
    if any(keyword.arg == "generator" for keyword in call.node.keywords):
        return False  # a stream of its own
    word = call.node.func.attr if isinstance(call.node.func, ast.Attribute) else ""
    layer = any(name.startswith("torch.nn.") and is_class(name) for name in call.names)
    return layer or any(effect_of(name).draws is Stream.TORCH for name in (f".{word}", *call.names))
