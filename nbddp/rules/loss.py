"""What it does
    Multiplies a loss that is a sum over the batch by the number of ranks before `backward()`.

Why DDP needs it
    DDP averages gradients over the ranks. The mean of the ranks' means is the mean over the batch; the mean of their
    sums is only 1/N of the sum: the training would take steps N times too small, and say nothing.

Before
    loss = F.mse_loss(output, x, reduction="sum")
    loss.backward()

After
    loss = F.mse_loss(output, x, reduction="sum")
    (world_size * loss).backward()

Declines
    Means over the batch, which need nothing. A loss that is neither a plain mean nor a plain sum is reported.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from nbddp.analysis.domain import Extent, spread
from nbddp.analysis.edit import Edit, wrap
from nbddp.analysis.plan import Plan
from nbddp.diagnostics import Diagnostic

NAME = "loss"


def rewrite(plan: Plan) -> Iterator[Edit | Diagnostic]:
    training = {f.node for f in plan.roles.batch_loops}
    for call in sorted(plan.facts.backward, key=lambda c: (c.lineno, c.col_offset)):
        if not plan.facts.calls[call].loops & training or not isinstance(call.func, ast.Attribute):
            continue
        loss = call.func.value
        extent = spread(plan.facts.value(loss))
        if extent is Extent.SUM:
            yield from wrap(plan.program, NAME, loss, f"({_ranks(plan, call)} * ", ")", ("dist",))
        elif extent in (Extent.VARYING, Extent.SAMPLES):
            yield plan.program.diagnose(
                NAME, "warning", loss, "it is not clear how this loss adds up over the samples of a batch",
                why="DDP averages over the ranks: that is right for a mean over the batch, and too small for a sum",
                help="compute it as a mean over the batch, or check the numbers with 'nbddp verify'",
            )  # fmt: skip
    for found in plan.calls("torch.autograd.grad"):
        wanted = found.args.get(0), found.args.get(1)
        if all(wanted) and [spread(v) for v in wanted if v] == [Extent.MEAN, Extent.SAMPLES]:
            yield plan.program.diagnose(
                NAME, "warning", found.node, "the gradient of a batch's mean by its samples depends on the batch size",
                why="a rank's share is smaller than the batch, so its samples get larger gradients",
                help="take the gradient of the sum over the samples instead",
            )  # fmt: skip


def _ranks(plan: Plan, node: ast.AST) -> str:
    inside = plan.program.function_of(node) is not None
    return f"{plan.naming('dist')}.get_world_size()" if inside else plan.naming("world_size")
