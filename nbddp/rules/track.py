"""What it does
    Lets rank 0 alone keep a log: other ranks get a writer that says nothing, and a disabled tracker.

Why DDP needs it
    N processes that log to one run write every point N times, or over each other.

Before
    writer = SummaryWriter()

After
    writer = SummaryWriter() if rank == 0 else Silent()

Declines
    Writers that are not kept in a variable.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from nbddp.analysis.edit import Edit, wrap
from nbddp.analysis.plan import Plan
from nbddp.diagnostics import Diagnostic

NAME = "track"


def rewrite(plan: Plan) -> Iterator[Edit | Diagnostic]:
    for call in sorted(plan.facts.calls.values(), key=lambda c: (c.node.lineno, c.node.col_offset)):
        value = plan.facts.value(call.node)
        if any(o.node is call.node for o in value.of("writer")):
            silent = f" if {plan.rank(call.node)} == 0 else {plan.naming('Silent')}()"
            yield from wrap(plan.program, NAME, call.node, "", silent, ("Silent", "dist"))
        if "wandb.init" in call.names and not any(k.arg == "mode" for k in call.node.keywords):
            yield _disabled(plan, call.node)


def _disabled(plan: Plan, node: ast.Call) -> Edit:
    end = plan.program.span(node)[1] - 1
    given = plan.program.text[plan.program.span(node.func)[1] + 1 : end].rstrip()
    comma = "" if not given or given.endswith(",") else ", "
    return Edit(NAME, end, end, f'{comma}mode="disabled" if {plan.rank(node)} else None', "close", ("dist",))
