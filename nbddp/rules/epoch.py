"""What it does
    Passes the number of the epoch to the sampler, so that each epoch uses a different order. Marks the epoch loop, so
    that a run by nbddp can resume from a checkpoint and can be stopped after an epoch. The checkpoint holds what the
    loop carries from epoch to epoch: variables, and attributes of trainers and of early stopping.

Why DDP needs it
    A DistributedSampler computes its order from the seed and the epoch: without `set_epoch` every epoch uses the same
    order.

Before
    for epoch in range(epochs):

After
    for epoch in range(epochs):
        train_sampler.set_epoch(epoch)

Declines
    A loop without an epoch number, or one in which no variable holds the loader: the sampler then counts its own passes
    over the data.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from nbddp.analysis import Plan
from nbddp.analysis.loaders import while_counter
from nbddp.analysis.models import behind_ddp
from nbddp.analysis.reading import SingleStart, single_start, state_in_scope
from nbddp.analysis.state import BatchLoop, Carried, carried, names_left, watched_within
from nbddp.analysis.values import LoopFact
from nbddp.diagnostics import Diagnostic
from nbddp.edits import Edit, before, first_in, mark
from nbddp.sentence import Sentence, sentence
from nbddp.watch_points import Named, Watch

NAME = "epoch"


def rewrite(plan: Plan) -> Iterator[Edit | Diagnostic]:
    for fact in plan.roles.epoch_loops:
        if isinstance(fact.node, ast.For):
            yield from _resumable(plan, fact, fact.node)
        elif isinstance(fact.node, ast.While):
            yield from _counting(plan, fact, fact.node)
    if (single := single_start(plan)) is not None:
        yield from _single_pass(plan, single)
    for statement in dict.fromkeys(one.at for one in names_left(plan)):
        names = tuple(one.name for one in names_left(plan) if one.at == statement)
        yield mark(plan.program, NAME, statement.node, Watch("left", names=names))
    for found in plan.epochs.set_epoch:
        line = f"{found.sampler}.set_epoch({found.number})"
        if isinstance(found.place, ast.For | ast.While):
            yield first_in(plan.program, NAME, found.place, line)
        else:
            yield before(plan.program, NAME, found.place, line)


def _resumable(plan: Plan, fact: LoopFact, loop: ast.For) -> Iterator[Edit | Diagnostic]:
    found = carried(plan, fact)
    yield from _lost(plan, loop, found)
    within = watched_within(plan, fact, found)
    values, things = _texts(plan, loop, found.values), _texts(plan, loop, found.things)
    watch = Watch("epochs", state=_state(plan, fact), carried=values, things=_named(things),
                  whole=_why_whole(within))  # fmt: skip
    yield mark(plan.program, NAME, loop, watch)
    yield from _batches(plan, within)


def _batches(plan: Plan, within: BatchLoop | Sentence) -> Iterator[Edit]:
    """Where an epoch can be left in its middle, and gone on with at the next batch."""
    if isinstance(within, BatchLoop):
        yield mark(plan.program, NAME, within.node, Watch("batches", so_far=within.sums))


def _why_whole(within: BatchLoop | Sentence) -> str:
    return "" if isinstance(within, BatchLoop) else within


def _lost(plan: Plan, loop: ast.For | ast.While, found: Carried) -> Iterator[Diagnostic]:
    """What goes from epoch to epoch, and that no file can hold."""
    if found.lost:
        yield plan.program.diagnose(
            NAME, "note", loop, sentence("checkpoints do not contain %1", ", ".join(map(repr, found.lost))),
            why=sentence("with --resume it starts from its initial value: it differs between ranks, is a model or "
                         "holds several, is not part of a state_dict(), or is not a variable of the loop's function"),
            help=sentence("keep plain values in variables of that function, keep a model's state_dict() instead of "
                          "the model, and use an nn.ModuleList with one optimizer instead of a list of models"),
        )  # fmt: skip


def _state(plan: Plan, fact: LoopFact) -> Named:
    return tuple((name, _text(plan, fact.node, text)) for name, text in state_in_scope(plan, fact).items())


def _texts(plan: Plan, loop: ast.AST, found: Iterable[str]) -> tuple[str, ...]:
    return tuple(_text(plan, loop, text) for text in found)


def _text(plan: Plan, loop: ast.AST, text: str) -> str:
    """As the script writes it there."""
    return behind_ddp(plan, plan.wrapping.names.values(), loop, text)


def _named(texts: tuple[str, ...]) -> Named:
    return tuple((text, text) for text in texts)


def _single_pass(plan: Plan, start: SingleStart) -> Iterator[Edit]:
    if start.state:
        watch = Watch("start", state=tuple(start.state.items()))
        yield mark(plan.program, NAME, start.statement.node, watch)


def _counting(plan: Plan, fact: LoopFact, loop: ast.While) -> Iterator[Edit | Diagnostic]:
    """A loop that counts its turns itself."""
    counter = while_counter(plan.program, loop)
    if counter is None or loop.orelse:
        yield plan.program.diagnose(
            NAME, "note", loop, sentence("nbddp cannot see how this loop counts its iterations"),
            why=sentence("the loop cannot be resumed from a checkpoint, and each sampler counts its own passes over "
                         "the data"),
            help=sentence("set a variable to 0 before the loop and add 1 to it in each iteration, or write a for loop"),
        )  # fmt: skip
        return
    found = carried(plan, fact)
    values = _texts(plan, loop, (name for name in found.values if name != counter.name))
    within = watched_within(plan, fact, found)
    yield from _lost(plan, loop, found)
    watch = Watch("turns", state=_state(plan, fact), carried=values, things=_named(_texts(plan, loop, found.things)),
                  counter=counter.name, first=counter.first, whole=_why_whole(within))  # fmt: skip
    yield mark(plan.program, NAME, loop, watch)
    yield from _batches(plan, within)
