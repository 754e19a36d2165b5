"""What a training draws at random between its passes over the data, where all ranks must draw the same."""

from __future__ import annotations

import ast

from nbddp.analysis import Plan
from nbddp.analysis.values import CallFact

DRAWING = (
    "torch.rand", "torch.normal", "torch.bernoulli", "torch.multinomial", "torch.distributions.", "torch.poisson",
    "torch.utils.data.random_split", "torch.utils.data.dataset.random_split", "torch.nn.init.",
)  # fmt: skip
IN_PLACE = ("uniform_", "normal_", "random_", "bernoulli_", "exponential_", "geometric_", "cauchy_", "log_normal_",
            "sample", "rsample", "reset_parameters")  # fmt: skip


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
    layer = any(name.startswith("torch.nn.") and name.rpartition(".")[2][:1].isupper() for name in call.names)
    return word in IN_PLACE or layer or any(name.startswith(DRAWING) for name in call.names)
