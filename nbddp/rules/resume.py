"""What it does
    With `--checkpoints`, lets the script continue from its own checkpoint: models, optimizers and schedulers, other
    values that carry over from epoch to epoch, the random numbers, the epoch, and the batch in it.

Why DDP needs it
    Long trainings on shared machines are ended and started again, often on another number of processes. Where torchrun
    or SLURM starts the script again after a fault, it continues by itself.

Before
    for epoch in range(epochs):

After
    if saved is not None:
        model.load_state_dict(saved["model"])

Declines
    Scripts that are exported without `--checkpoints`, and loops whose epochs are not counted upwards.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from nbddp.analysis import Plan
from nbddp.analysis.models import behind_ddp
from nbddp.analysis.reading import held_by
from nbddp.analysis.state import BatchLoop, CheckpointedLoop, checkpointed
from nbddp.diagnostics import Diagnostic
from nbddp.edits import Edit, before, first_in
from nbddp.sentence import sentence

NAME = "resume"


def rewrite(plan: Plan) -> Iterator[Edit | Diagnostic]:
    loop = checkpointed(plan)
    parts = ("full_state_dict", "load_full_state_dict") if plan.options.shard else ()
    if loop is not None:
        yield before(plan.program, NAME, loop.node, "\n".join(_load(plan, loop)), ("checkpoints", *parts))
        saved = plan.naming("saved")
        skip = f'if {saved} is not None and {loop.counter} < {saved}["epoch"]:\n    continue  # done before'
        yield first_in(plan.program, NAME, loop.node, skip)
        if loop.batches is not None and loop.batches.sums:
            yield before(plan.program, NAME, loop.batches.node, "\n".join(_so_far(plan, loop.batches)))
    elif plan.options.checkpoints and plan.training:
        place = next((f.node for f in plan.roles.epoch_loops if isinstance(f.node, ast.stmt)), plan.training[0].node)
        yield plan.program.diagnose(
            NAME, "warning", place, sentence("the script will not write checkpoints itself"),
            why=sentence("this needs one loop over epochs with range(), and plain values that it carries from epoch "
                         "to epoch"),
            help=sentence("write the loop like that, or run the script with nbddp, which then writes the checkpoints"),
        )  # fmt: skip


def _load(plan: Plan, loop: CheckpointedLoop) -> Iterator[str]:
    saved = plan.naming("saved")
    yield f"{saved} = {plan.naming('checkpoints')}.load("
    yield "    lambda: {"
    yield f'        "epoch": {loop.counter},'
    for name, text in loop.state:
        yield f'        "{name}": {_state(plan, loop, text)},'
    for text in loop.values:
        yield f'        "{text}": {_text(plan, loop, text)},'
    yield "    }"
    yield ")"
    yield f"if {saved} is not None:"
    for name, text in loop.state:
        if _is_sharded(plan, loop, text):
            yield f'    {plan.naming("load_full_state_dict")}({text}, {saved}["{name}"])'
        else:
            yield f'    {_text(plan, loop, text)}.load_state_dict({saved}["{name}"])'
    for text in loop.values:
        yield f'    {_text(plan, loop, text)} = {saved}["{text}"]'


def _state(plan: Plan, loop: CheckpointedLoop, text: str) -> str:
    sharded = _is_sharded(plan, loop, text)
    return f"{plan.naming('full_state_dict')}({text})" if sharded else f"{_text(plan, loop, text)}.state_dict()"


def _text(plan: Plan, loop: CheckpointedLoop, text: str) -> str:
    """As the script writes it there."""
    return behind_ddp(plan, plan.wrapping.names.values(), loop.node, text)


def _is_sharded(plan: Plan, loop: CheckpointedLoop, text: str) -> bool:
    held = held_by(plan, loop.node, plan.facts.loops[loop.node].names, text)
    return bool(plan.options.shard) and any(o.kind in ("model", "optimizer") for o in held)


def _so_far(plan: Plan, loop: BatchLoop) -> Iterator[str]:
    for text, how in loop.sums:
        kind = f', "{how}"' if how else ""
        yield f'{text} = {plan.naming("checkpoints")}.so_far("{text}", {text}{kind})'
