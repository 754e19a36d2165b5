"""What it does
    With `--shard`, makes a plain number of the norm that `clip_grad_norm_` returns, where the notebook uses it.

Why DDP needs it
    Of sharded parameters the norm is a distributed tensor: it has the value of one process, but cannot be formatted,
    saved, or added to other tensors.

Before
    norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)

After
    norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0).full_tensor()

Declines
    Scripts that are exported without `--shard`, and norms that nothing uses.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from nbddp.analysis import Plan
from nbddp.edits import Edit

NAME = "total-norm"
NORMS = ("torch.nn.utils.clip_grad_norm_", "torch.nn.utils.clip_grad_norm", "torch.nn.utils.get_total_norm")


def rewrite(plan: Plan) -> Iterator[Edit]:
    for call in plan.calls(*NORMS) if plan.options.shard else ():
        if not isinstance(plan.program.parents[call.node], ast.Expr):
            end = plan.program.span(call.node)[1]
            yield Edit(NAME, end, end, ".full_tensor()", "close")
