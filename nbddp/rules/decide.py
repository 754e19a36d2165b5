"""What it does
    Makes all ranks decide alike: a condition on a number of one rank's share is asked of the number of all ranks.

Why DDP needs it
    One rank that leaves the loop, or steps where the others do not, leaves the others waiting for ever.

Before
    if loss.item() < 0.01:
        break

After
    if mean_over_ranks(loss.item()) < 0.01:
        break

Declines
    Conditions that only choose what a rank computes from its own samples, and those that are the same on all ranks
    anyway. Where rank 0 has to decide for all of them from its own share, that is reported.
"""

from __future__ import annotations

from collections.abc import Iterator

from nbddp.analysis.decisions import Decision
from nbddp.analysis.edit import Edit, wrap
from nbddp.analysis.plan import Plan
from nbddp.diagnostics import Diagnostic
from nbddp.sentence import sentence

NAME = "decide"


def rewrite(plan: Plan) -> Iterator[Edit | Diagnostic]:
    for decision in plan.decisions:
        if plan.preparation.covers(plan, decision.test):
            continue
        yield from wrap(plan.program, NAME, decision.node, f"{plan.naming(decision.part)}(", ")", (decision.part,))
        if not decision.exact:
            yield _by_rank_0(plan, decision)


def _by_rank_0(plan: Plan, decision: Decision) -> Diagnostic:
    return plan.program.diagnose(
        NAME, "warning", decision.test, sentence("rank 0 decides this for all ranks, from its own share of the data"),
        why=sentence("ranks that decide differently wait for each other for ever"),
        help=sentence("decide on numbers that are accumulated with += over a loop, behind that loop"),
    )  # fmt: skip
