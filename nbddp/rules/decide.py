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
    anyway. If rank 0 has to decide for all ranks from its own part of the data, that is reported. A training step that
    each rank takes by its own numbers, with no condition to decide together, is refused.
"""

from __future__ import annotations

import ast
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
    for call in plan.facts.calls.values():
        trains = call.optimizers or call.node in plan.facts.backward or call.node in plan.facts.chosen_apart
        if call.apart and trains:
            yield _apart(plan, call.node)


def _by_rank_0(plan: Plan, decision: Decision) -> Diagnostic:
    return plan.program.diagnose(
        NAME, "warning", decision.test,
        sentence("rank 0 decides this for all ranks, from its own part of the data only"),
        why=sentence("ranks that decide differently would wait for each other forever"),
        help=sentence("accumulate the number with += in a loop, and decide after that loop"),
    )  # fmt: skip


def _apart(plan: Plan, step: ast.Call) -> Diagnostic:
    """No condition stands there that all ranks could decide together."""
    return plan.program.diagnose(
        NAME, "error", step,
        sentence("each rank decides from its own part of the data whether, or how often, this runs"),
        why=sentence("ranks that train unlike numbers of steps wait for each other forever, or end with other models"),
        help=sentence("put it under an if statement that compares the number, such as `if loss.item() < limit:`"),
    )  # fmt: skip
