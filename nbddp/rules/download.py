"""What it does
    Lets one process on each machine download data first. What only changes files before the training (creating folders,
    unpacking archives, writing files) is done by that process alone.

Why DDP needs it
    N processes that download the same file at once overwrite each other's file and read incomplete ones.

Before
    train_set = MNIST("data", download=True)

After
    with first_on_rank_0():
        train_set = MNIST("data", download=True)

Declines
    Folders that may already exist. Statements in which the ranks have to work together, such as a function that both
    builds and trains a model: only the parts of it that run once are considered. Anything after the training.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from nbddp.analysis import Plan
from nbddp.analysis.slicing import block_of
from nbddp.diagnostics import Diagnostic
from nbddp.edits import Edit, after, guard, within

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
            line = f"{plan.naming('dist')}.barrier()"
            yield after(plan.program, NAME, statement, line, ("dist",), alone=True)


def _goes_on(plan: Plan, statement: ast.stmt) -> bool:
    """Is the next statement another that the same rank does alone? One barrier behind them is enough."""
    parent = plan.program.parents[statement]
    block = [s.node for s in plan.kept] if isinstance(parent, ast.Module) else block_of(parent, statement)
    return statement in block[:-1] and block[block.index(statement) + 1] in plan.preparation.alone
