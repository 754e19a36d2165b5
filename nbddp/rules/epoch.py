"""What it does
    Tells the sampler the number of the epoch, so that each epoch has an order of its own; makes the epoch loop one
    that can be resumed from a checkpoint and that ends after an epoch when asked to.

Why DDP needs it
    A DistributedSampler draws its order from the seed and the epoch: without `set_epoch` every epoch has the same.

Before
    for epoch in range(epochs):

After
    for epoch in resumable(range(epochs), model=model, optimizer=optimizer):
        train_sampler.set_epoch(epoch)

Declines
    A loop that has no number, or from which the loader cannot be named: the sampler then counts its own passes.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from nbddp.analysis.edit import Edit, before, first_in, wrap
from nbddp.analysis.facts import LoopFact
from nbddp.analysis.plan import Plan
from nbddp.analysis.scope import state_in_scope
from nbddp.diagnostics import Diagnostic

NAME = "epoch"


def rewrite(plan: Plan) -> Iterator[Edit | Diagnostic]:
    for fact in plan.roles.epoch_loops:
        if isinstance(fact.node, ast.For):
            yield from _resumable(plan, fact, fact.node)
    for found in plan.epochs.set_epoch:
        line = f"{found.sampler}.set_epoch({found.number})"
        if isinstance(found.place, ast.For):
            yield first_in(plan.program, NAME, found.place, line)
        else:
            yield before(plan.program, NAME, found.place, line)


def _resumable(plan: Plan, fact: LoopFact, loop: ast.For) -> Iterator[Edit]:
    state = "".join(f", {name}={text}" for name, text in state_in_scope(plan, fact).items())
    yield from wrap(plan.program, NAME, loop.iter, f"{plan.naming('resumable')}(", f"{state})", ("resumable",))
