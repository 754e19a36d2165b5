"""What it does
    Tells the sampler the number of the epoch, so that each epoch has an order of its own; makes the epoch loop one
    that can be resumed from a checkpoint and that ends after an epoch when asked to. What goes from epoch to epoch
    goes into the checkpoint: names, and attributes of trainers and of what stops early.

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
from dataclasses import replace

from nbddp.analysis.carried import Carried, carried
from nbddp.analysis.edit import Edit, after, before, first_in, indent_of, wrap
from nbddp.analysis.facts import LoopFact
from nbddp.analysis.plan import Plan
from nbddp.analysis.scope import SingleStart, single_start, state_in_scope
from nbddp.analysis.while_loops import while_counter
from nbddp.diagnostics import Diagnostic
from nbddp.sentence import sentence

NAME = "epoch"
WIDTH = 116  # of 120, for what the cells do moves four columns in


def rewrite(plan: Plan) -> Iterator[Edit | Diagnostic]:
    for fact in plan.roles.epoch_loops:
        if isinstance(fact.node, ast.For):
            yield from _resumable(plan, fact, fact.node)
        elif isinstance(fact.node, ast.While):
            yield from _counting(plan, fact, fact.node)
    if (single := single_start(plan)) is not None:
        yield from _single_pass(plan, single)
    for found in plan.epochs.set_epoch:
        line = f"{found.sampler}.set_epoch({found.number})"
        if isinstance(found.place, ast.For | ast.While):
            yield first_in(plan.program, NAME, found.place, line)
        else:
            yield before(plan.program, NAME, found.place, line)


def _resumable(plan: Plan, fact: LoopFact, loop: ast.For) -> Iterator[Edit | Diagnostic]:
    yield from _carry_on(plan, loop, carried(plan, fact))
    indent = indent_of(plan.program, loop)
    room = WIDTH - len(indent) - len(plan.program.source(loop).partition("\n")[0])
    first, rest = plan.program.source(loop.iter), _state(plan, fact)
    opening, closing = _laid_out(f"{plan.naming('resumable')}(", first, rest, room, indent)
    yield from wrap(plan.program, NAME, loop.iter, opening, closing, ("resumable",))


def _laid_out(opening: str, first: str, rest: list[str], room: int, indent: str) -> tuple[str, str]:
    """What goes before and behind the first argument, on lines as a formatter breaks them."""
    together = "".join(f", {text}" for text in rest)
    if len(opening) + len(together) + 1 <= room or "\n" in first:
        return opening, f"{together})"
    inner = indent + "    "
    if len(inner) + len(first) + len(together) <= WIDTH:
        return f"{opening}\n{inner}", f"{together}\n{indent})"
    return f"{opening}\n{inner}", "".join(f",\n{inner}{text}" for text in rest) + f",\n{indent})"


def _carry_on(plan: Plan, loop: ast.For | ast.While, found: Carried) -> Iterator[Edit | Diagnostic]:
    """What goes from epoch to epoch besides the state, as the checkpoint has it."""
    texts, indent = found.values, indent_of(plan.program, loop)
    if texts:
        left = ", ".join(texts)
        if len(indent) + len(left) + len(" = from_checkpoint(") > WIDTH:
            left = "(\n    " + ",\n    ".join(texts) + ",\n)"
        yield _call(plan, loop, f"{left} = ", "from_checkpoint", "lambda: ", texts)
    if found.things:
        yield _call(plan, loop, "", "attributes_from_checkpoint", "", found.things)
    if found.lost:
        yield plan.program.diagnose(
            NAME, "note", loop, sentence("checkpoints do not hold %1", ", ".join(map(repr, found.lost))),
            why=sentence("a run with --resume starts it afresh: it differs between ranks, is a model, holds several "
                         "models, is no part of a state, or has no name in the function of the loop"),
            help=sentence("keep plain values in names of that function, the state_dict() of a model instead of the "
                          "model, and models in an nn.ModuleList with one optimizer instead of a list with several"),
        )  # fmt: skip


def _call(plan: Plan, loop: ast.stmt, left: str, part: str, opening: str, texts: tuple[str, ...]) -> Edit:
    """With a dictionary of these expressions, on lines as a formatter breaks them."""
    call, indent = f"{left}{plan.naming(part)}(", len(indent_of(plan.program, loop))
    items = [f'"{text}": {text}' for text in texts]
    argument = f"{opening}{{{', '.join(items)}}}"
    if indent + len(call.rpartition("\n")[2]) + len(argument) + 1 > WIDTH:
        if indent + 4 + len(argument) > WIDTH:
            argument = f"{opening}{{\n        " + ",\n        ".join(items) + ",\n    }"
        argument = f"\n    {argument}\n"
    return before(plan.program, NAME, loop, f"{call}{argument})", (part,))


def _state(plan: Plan, fact: LoopFact) -> list[str]:
    return [f"{name}={text}" for name, text in state_in_scope(plan, fact).items()]


def _single_pass(plan: Plan, start: SingleStart) -> Iterator[Edit]:
    state = ", ".join(f"{name}={text}" for name, text in start.state.items())
    for part in ("compare_after_first_step", "load_states") if state else ():
        yield before(plan.program, NAME, start.statement.node, f"{plan.naming(part)}({state})", (part,))


def _counting(plan: Plan, fact: LoopFact, loop: ast.While) -> Iterator[Edit | Diagnostic]:
    """A loop that counts its turns itself: what `resumable` does, around and in it."""
    counter = while_counter(plan.program, loop)
    if counter is None or loop.orelse:
        yield plan.program.diagnose(
            NAME, "note", loop, sentence("this loop does not count its turns in a way that can be followed"),
            why=sentence("it cannot be resumed from a checkpoint, and samplers count their own passes"),
            help=sentence("set a variable to 0 before it, and add 1 to it in each turn; or write it as a for loop"),
        )  # fmt: skip
        return
    naming, state = plan.naming, _state(plan, fact)
    found = carried(plan, fact)
    yield from _carry_on(plan, loop, replace(found, values=tuple(n for n in found.values if n != counter.name)))
    start = f"{counter.name} += {naming('epochs_before')}({', '.join(state)})"
    yield before(plan.program, NAME, loop, start, ("epochs_before",))
    yield first_in(plan.program, NAME, loop, f"{naming('epoch_begins')}({counter.begun()})", ("epoch_begins",))
    end = f"if {naming('epoch_done')}({', '.join([counter.done(), *state])}):\n    break"
    yield after(plan.program, NAME, loop.body[-1], end, ("epoch_done",))
