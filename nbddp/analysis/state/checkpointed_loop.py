"""The loop in which the script itself writes checkpoints, where that is asked for."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from nbddp.analysis.library import entry_of
from nbddp.analysis.reading import Reading, state_in_scope
from nbddp.analysis.state.batches_done import BatchLoop, batches_done
from nbddp.analysis.state.loop_carried import Carried, carried
from nbddp.analysis.values import LoopFact
from nbddp.sentence import NOTHING, Sentence, sentence


@dataclass(frozen=True)
class CheckpointedLoop:
    """Where it is, its counter, and what a checkpoint holds of it."""

    node: ast.For
    counter: str
    state: tuple[tuple[str, str], ...]  # name and expression of models, optimizers, schedulers
    values: tuple[str, ...]  # expressions of what goes from epoch to epoch besides
    batches: BatchLoop | None = None  # in the middle of which it can be written as well
    whole: Sentence = NOTHING  # why it cannot


def checkpointed(plan: Reading) -> CheckpointedLoop | None:
    """The only loop over epochs, if its epochs are numbers that grow and it is gone through once; none if not asked."""
    loops = plan.roles.epoch_loops
    if not plan.options.checkpoints or plan.framework is not None or len(loops) != 1:
        return None
    (fact,) = loops
    if not isinstance(fact.node, ast.For) or not isinstance(fact.node.target, ast.Name) or not _once(plan, fact.node):
        return None
    found = carried(plan, fact)
    if not _counts_up(plan, fact.node.iter) or found.things or found.lost:
        return None
    state, batches = tuple(state_in_scope(plan, fact).items()), batches_done(plan, fact)
    within, whole = (batches, NOTHING) if isinstance(batches, BatchLoop) else (None, batches)
    return CheckpointedLoop(fact.node, fact.node.target.id, state, found.values, within, whole)


def watched_within(plan: Reading, fact: LoopFact, found: Carried) -> BatchLoop | Sentence:
    """The batches in whose middle a run by nbddp can write a checkpoint for this loop over epochs; or why it cannot."""
    if plan.options.checkpoints:
        return sentence("the script writes checkpoints of its own")
    if found.things or found.lost:
        return sentence("checkpoints do not contain %1", ", ".join(map(repr, (*found.things, *found.lost))))
    return batches_done(plan, fact)


def _counts_up(plan: Reading, node: ast.expr) -> bool:
    """`range(epochs)`, `tqdm(range(1, epochs + 1))`, with steps upwards."""
    op = entry_of(node, plan.flow.imports)
    if not isinstance(node, ast.Call) or not op.counts:
        return isinstance(node, ast.Call) and bool(op.gives and node.args) and _counts_up(plan, node.args[0])
    return len(node.args) < 3


def _once(plan: Reading, loop: ast.For) -> bool:
    function = plan.program.function_of(loop)
    around = [a for a in plan.program.ancestors(loop) if isinstance(a, ast.For | ast.AsyncFor | ast.While)]
    if function is None:
        return not around
    calls = [call for call in plan.facts.calls.values() if function in call.bodies]
    return not around and len(calls) == 1 and not calls[0].loops
