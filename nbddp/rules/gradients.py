"""What it does
    Averages the gradients over the ranks right after `backward()`, for models that DDP cannot take over.

Why DDP needs it
    DDP averages gradients only when the loss went through the model's forward, called on the wrapper.
    A loss computed by `model.loss(x)` passes it by, and it says nothing: each rank would train a model of its own.

Before
    loss = model.loss(x, y)
    loss.backward()

After
    loss = model.loss(x, y)
    loss.backward()
    average_gradients(optimizer)

Declines
    Models that DDP wraps. Where no optimizer is in reach by name, the export is refused.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from nbddp.analysis.edit import Edit, after
from nbddp.analysis.plan import Plan
from nbddp.analysis.scope import expressions_for
from nbddp.diagnostics import Diagnostic

NAME = "gradients"


def rewrite(plan: Plan) -> Iterator[Edit | Diagnostic]:
    if not plan.wrapping.averaged:
        return
    for model, reason in plan.wrapping.averaged.items():
        yield plan.program.diagnose(
            NAME, "note", model.node, f"DDP cannot take this model over: {reason}",
            why="its gradients are averaged over the ranks after backward(), which is as right and a little slower",
        )  # fmt: skip
    training = {f.node for f in plan.roles.batch_loops}
    for call in sorted(plan.facts.backward, key=lambda c: (c.lineno, c.col_offset)):
        if plan.facts.calls[call].loops & training:
            yield from _after_backward(plan, call)


def _after_backward(plan: Plan, call: ast.Call) -> Iterator[Edit | Diagnostic]:
    statement = plan.program.statement_of(call)
    names = _optimizers(plan, call)
    if not names:
        yield plan.program.diagnose(
            NAME, "error", call, "the gradients of this step cannot be averaged: no optimizer can be named here",
            why="each rank would train a model of its own",
            help="train the model through its forward, or make the optimizer a variable that this code can read",
        )  # fmt: skip
        return
    yield after(plan.program, NAME, statement, f"{plan.naming('average_gradients')}({', '.join(names)})",
                ("average_gradients",))  # fmt: skip


def _optimizers(plan: Plan, call: ast.Call) -> list[str]:
    averaged = plan.wrapping.averaged.keys()
    wanted = {o for m in plan.roles.models if m.obj in averaged for o in m.optimizers}
    return expressions_for(plan, call, plan.facts.calls[call].visible, wanted)
