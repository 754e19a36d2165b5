"""What it does
    Lets one process of each machine go first where data is fetched, and do alone what is done on the disk and nowhere
    else: folders made, archives unpacked, files written before the training.

Why DDP needs it
    N processes that download the same file at once write over each other, and read halves.

Before
    train_set = MNIST("data", download=True)

After
    with first_on_rank_0():
        train_set = MNIST("data", download=True)

Declines
    Folders that may exist already. Statements in which the ranks meet, as they do where a function builds a model
    and trains it: there only those parts are looked at that run once. What comes behind the training.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from nbddp.analysis.edit import Edit, after, guard, within
from nbddp.analysis.plan import Plan
from nbddp.diagnostics import Diagnostic

NAME = "download"


def rewrite(plan: Plan) -> Iterator[Edit | Diagnostic]:
    preparation = plan.preparation
    for statement in sorted(preparation.first - preparation.moved, key=lambda s: s.lineno):
        part = plan.naming("first_on_rank_0")
        yield from within(plan.program, NAME, statement, f"{part}()", ("first_on_rank_0",))
    for statement in sorted(preparation.alone, key=lambda s: s.lineno):
        part = plan.naming("first_of_machine")
        yield from guard(plan.program, NAME, statement, f"{part}()", ("first_of_machine",))
        if not _goes_on(plan, statement):
            yield after(plan.program, NAME, statement, f"{plan.naming('dist')}.barrier()", ("dist",))


def _goes_on(plan: Plan, statement: ast.stmt) -> bool:
    """Is the next statement another that the same rank does alone? One barrier behind them is enough."""
    parent = plan.program.parents[statement]
    kept = [s.node for s in plan.kept] if isinstance(parent, ast.Module) else None
    for field in ("body", "orelse", "finalbody"):
        block = kept if kept is not None else getattr(parent, field, [])
        if isinstance(block, list) and statement in block[:-1]:
            return block[block.index(statement) + 1] in plan.preparation.alone
    return False
