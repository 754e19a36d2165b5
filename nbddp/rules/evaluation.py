"""What it does
    Deals the batches of an evaluation loop out among the ranks: each batch is evaluated once, by one rank, and is
    the batch that one process would form, so that 21 samples count as 21 and means of batches stay what they were.

Why DDP needs it
    Evaluated whole on each rank, N processes do N times the work. A DistributedSampler would pad: samples would
    count twice.

Before
    for x, y in val_loader:

After
    for x, y in share_of(val_loader):

Declines
    A loop that may end early, that calls `train()` or `eval()`, that draws batches one by one, or that leaves behind
    something that cannot be put together from shares: each rank then evaluates all of it. Slower, and the same
    numbers.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from nbddp.analysis.domain import Obj
from nbddp.analysis.edit import Edit, wrap
from nbddp.analysis.facts import Loop, LoopFact
from nbddp.analysis.loader_calls import loader_call
from nbddp.analysis.plan import Plan
from nbddp.diagnostics import Diagnostic
from nbddp.sentence import sentence

NAME = "evaluation"


def rewrite(plan: Plan) -> Iterator[Edit | Diagnostic]:
    edited: set[ast.expr] = set()
    for fact in plan.roles.evaluation_loops:
        whole = plan.facts.keep_whole.get(fact.node)
        if whole is None and isinstance(fact.node, ast.For | ast.AsyncFor):
            yield from _wrap(plan, fact, "share_of", edited)
            continue
        shared = bool(fact.loaders & plan.sharding.loaders)
        if shared and not fact.loader_nodes:
            yield _nameless(plan, fact)
        elif shared or any(_is_left_to_chance(plan, o) for o in fact.loaders):
            yield from _wrap(plan, fact, "all_of", edited)
        if whole is not None:
            yield plan.program.diagnose(
                NAME, "note", _place(plan, fact.node), sentence("each rank evaluates all of it: %1", whole),
                why=sentence("the numbers are those of one process, but the work is not shared"),
            )  # fmt: skip
    for place in sorted((_place(plan, n) for n in plan.sharding.mixed), key=lambda n: getattr(n, "lineno", 0)):
        yield plan.program.diagnose(
            NAME, "note", place, sentence("where it evaluates, each rank evaluates all of it: this loop also trains"),
            why=sentence("the numbers are those of one process, but the work is not shared"),
            help=sentence("evaluate in a loop of its own"),
        )  # fmt: skip


def _place(plan: Plan, loop: Loop) -> ast.AST:
    """A comprehension has no line of its own."""
    return plan.program.parents[loop] if isinstance(loop, ast.comprehension) else loop


def _nameless(plan: Plan, fact: LoopFact) -> Diagnostic:
    return plan.program.diagnose(
        NAME, "error", _place(plan, fact.node),
        sentence("this evaluation would read only the share of the training data that a rank has"),
        why=sentence("the loader goes by no name here by which it could be made whole again"),
        help=sentence("evaluate on a DataLoader of its own, or iterate over the DataLoader itself"),
    )  # fmt: skip


def _is_left_to_chance(plan: Plan, loader: Obj) -> bool:
    """Would the ranks draw its batches in different orders?"""
    call = loader_call(plan, loader)
    if call is None:
        return False
    ordered = call.constant("shuffle") is False or "shuffle" not in call.arguments
    return not ordered or call.gives("sampler") or call.gives("batch_sampler")


def _wrap(plan: Plan, fact: LoopFact, part: str, edited: set[ast.expr]) -> Iterator[Edit]:
    for node in sorted(fact.loader_nodes - edited, key=lambda n: (n.lineno, n.col_offset)):
        edited.add(node)
        yield from wrap(plan.program, NAME, node, f"{plan.naming(part)}(", ")", (part,))
