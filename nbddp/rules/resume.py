"""What it does
    With `--checkpoints`, lets the script continue from its own checkpoint: models, optimizers and schedulers, other
    values that carry over from epoch to epoch, the random numbers, and the epoch.

Why DDP needs it
    Long trainings on shared machines are ended and started again, often on another number of processes. Where torchrun
    or SLURM starts the script again after a fault, it continues by itself.

Before
    for epoch in range(epochs):

After
    first_epoch = 0
    if resume_file is not None:
        saved = torch.load(resume_file, map_location="cpu", weights_only=False)  # a file of this script's own

Declines
    Scripts that are exported without `--checkpoints`, and loops whose epochs are not counted upwards.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from nbddp.analysis import Plan
from nbddp.analysis.state import CheckpointedLoop, checkpointed
from nbddp.diagnostics import Diagnostic
from nbddp.edits import Edit, before, first_in
from nbddp.sentence import sentence

NAME = "resume"


def rewrite(plan: Plan) -> Iterator[Edit | Diagnostic]:
    loop = checkpointed(plan)
    if loop is not None:
        text = "\n".join(_load(plan, loop))
        yield before(plan.program, NAME, loop.node, text, ("torch", "dist", "resume_file", "import torch"))
        skip = f"if {loop.counter} < {plan.naming('first_epoch')}:\n    continue  # done before the checkpoint"
        yield first_in(plan.program, NAME, loop.node, skip)
    elif plan.options.checkpoints and plan.training:
        place = next((f.node for f in plan.roles.epoch_loops if isinstance(f.node, ast.stmt)), plan.training[0].node)
        yield plan.program.diagnose(
            NAME, "warning", place, sentence("the script will not write checkpoints itself"),
            why=sentence("this needs one loop over epochs with range(), and plain values that it carries from epoch "
                         "to epoch"),
            help=sentence("write the loop like that, or run the script with nbddp, which then writes the checkpoints"),
        )  # fmt: skip


def _load(plan: Plan, loop: CheckpointedLoop) -> Iterator[str]:
    saved, first, file = (plan.naming(name) for name in ("saved", "first_epoch", "resume_file"))
    yield f"{first} = 0"
    yield f"if {file} is not None:"
    own = "  # a file of this script's own"
    yield f'    {saved} = {plan.naming("torch")}.load({file}, map_location="cpu", weights_only=False){own}'
    for name, text in loop.state:
        yield f'    {text}.load_state_dict({saved}["{name}"])'
    for text in loop.values:
        yield f'    {text} = {saved}["{text}"]'
    own = f'{saved}["random"][{plan.naming("dist")}.get_rank() % len({saved}["random"])]'
    yield f"    {plan.naming('torch')}.set_rng_state({own})"
    yield f'    {first} = {saved}["epoch"] + 1'
