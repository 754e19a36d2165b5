"""What it does
    Makes all ranks decide in the same way: a condition on a number that each rank computed from its own part of the
    data uses the number of all ranks.

Why DDP needs it
    If one rank leaves the loop, or takes a step that the others do not, the others wait forever.

Before
    if loss.item() < 0.01:
        break

After
    if sum_over_ranks(loss.item()) / world_size < 0.01:
        break

Declines
    Conditions that only choose what a rank computes from its own samples, and those that are the same on all ranks
    anyway. If rank 0 has to decide for all ranks from its own part of the data, that is reported.
"""

from __future__ import annotations

from collections.abc import Iterator

from nbddp.analysis import Plan
from nbddp.analysis.agreement import Decision, over_ranks
from nbddp.diagnostics import Diagnostic
from nbddp.edits import Edit, wrap
from nbddp.sentence import sentence

NAME = "decide"


def rewrite(plan: Plan) -> Iterator[Edit | Diagnostic]:
    for decision in plan.decisions:
        if plan.preparation.covers(plan, decision.test):
            continue
        text = over_ranks(plan, decision.node, decision.part)
        yield from wrap(plan.program, NAME, decision.node, text.before, text.after, text.uses)
        if not decision.exact:
            yield _by_rank_0(plan, decision)


def _by_rank_0(plan: Plan, decision: Decision) -> Diagnostic:
    return plan.program.diagnose(
        NAME, "warning", decision.test,
        sentence("rank 0 decides this for all ranks, from its own part of the data only"),
        why=sentence("ranks that decide differently would wait for each other forever"),
        help=sentence("accumulate the number with += in a loop, and decide after that loop"),
    )  # fmt: skip
