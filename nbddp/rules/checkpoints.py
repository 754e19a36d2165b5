"""What it does
    With `--checkpoints`, lets rank 0 write a checkpoint after each epoch, from which the script can continue:
    `--checkpoint PATH`, by default beside the script. With `--checkpoint-every 10m` (or `500`, batches) it writes one
    within an epoch as well; so it does on SIGTERM and SIGUSR1, and then ends with the status 128 + the signal.

Why DDP needs it
    Only one process writes, or several would write at the same time. Each rank has random numbers and sums of its own,
    so that the file holds those of all, and all have to stop at the same batch.

Before
    for epoch in range(epochs):

After
    checkpoints.save()

Declines
    Scripts that are exported without `--checkpoints`, and loops whose epochs are not counted upwards. Within an epoch:
    several loops over batches, gradients that are added up over several, and what no file can hold.
"""

from __future__ import annotations

from collections.abc import Iterator

from nbddp.analysis import Plan
from nbddp.analysis.state import BatchLoop, checkpointed
from nbddp.diagnostics import Diagnostic
from nbddp.edits import Edit, after, replace, wrap
from nbddp.sentence import sentence

NAME = "checkpoints"


def rewrite(plan: Plan) -> Iterator[Edit | Diagnostic]:
    loop = checkpointed(plan)
    if loop is None:
        return
    yield after(plan.program, NAME, loop.node.body[-1], f"{plan.naming('checkpoints')}.save()", ("checkpoints",))
    if loop.batches is not None:
        yield from _within(plan, loop.batches)
    else:
        yield plan.program.diagnose(
            NAME, "note", loop.node, sentence("the script writes checkpoints only after whole epochs: %1", loop.whole),
            why=sentence("when it is stopped in the middle of an epoch, that epoch is trained again"),
        )  # fmt: skip


def _within(plan: Plan, loop: BatchLoop) -> Iterator[Edit]:
    own = plan.naming("checkpoints")
    yield from wrap(plan.program, NAME, loop.loader, f"{plan.naming('RestOf')}(", ")", ("RestOf",))
    if loop.numbered is not None:
        yield from _numbers(plan, loop)
    sums = ", ".join(f'"{text}": {text}' for text, _ in loop.sums)
    lines = f"if {own}.due():\n    {own}.save({{{sums}}})"
    yield after(plan.program, NAME, loop.node.body[-1], lines, ("checkpoints",))


def _numbers(plan: Plan, loop: BatchLoop) -> Iterator[Edit]:
    """`enumerate(loader, 1)`: what it counts from, and the batches that were done before."""
    assert loop.numbered is not None
    done = f"{plan.naming('checkpoints')}.batches"
    first = [*loop.numbered.args[1:], *(k.value for k in loop.numbered.keywords)]
    if first:
        yield replace(plan.program, NAME, first[0], f"{plan.program.source(first[0])} + {done}")
    else:
        end = plan.program.span(loop.numbered.args[0])[1]
        yield Edit(NAME, end, end, f", {done}", "close")
