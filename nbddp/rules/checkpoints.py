"""What it does
    With `--checkpoints`, lets rank 0 write a checkpoint after each epoch, from which the script can continue:
    `--checkpoint PATH`, by default beside the script.

Why DDP needs it
    Only one process writes, or several would write at the same time. It writes to a new file first, because the machine
    may fail while it writes. Each rank has random numbers of its own, so that the file holds the state of all.

Before
    for epoch in range(epochs):

After
    saved = {"epoch": epoch, "random": [None] * dist.get_world_size()}

Declines
    Scripts that are exported without `--checkpoints`, and loops whose epochs are not counted upwards.
"""

from __future__ import annotations

from collections.abc import Iterator

from nbddp.analysis import Plan
from nbddp.analysis.state import CheckpointedLoop, checkpointed
from nbddp.diagnostics import Diagnostic
from nbddp.edits import Edit, after

NAME = "checkpoints"
USES = ("torch", "dist", "os", "checkpoint_file", "import os", "import torch")


def rewrite(plan: Plan) -> Iterator[Edit | Diagnostic]:
    loop = checkpointed(plan)
    if loop is not None:
        yield after(plan.program, NAME, loop.node.body[-1], "\n".join(_save(plan, loop)), USES)


def _save(plan: Plan, loop: CheckpointedLoop) -> Iterator[str]:
    saved, file, torch, os, dist = (plan.naming(n) for n in ("saved", "checkpoint_file", "torch", "os", "dist"))
    yield f'{saved} = {{"epoch": {loop.counter}, "random": [None] * {dist}.get_world_size()}}'
    items = [f'"{name}": {text}.state_dict()' for name, text in loop.state]
    items += [f'"{text}": {text}' for text in loop.values]
    for row in _rows(items):
        yield f"{saved} |= {{{', '.join(row)}}}"
    yield f'{dist}.all_gather_object({saved}["random"], {torch}.get_rng_state())'
    yield f"if {dist}.get_rank() == 0:"
    yield f'    {torch}.save({saved}, f"{{{file}}}.part")'
    yield f'    {os}.replace(f"{{{file}}}.part", {file})  # nobody reads half a file'


def _rows(items: list[str]) -> Iterator[list[str]]:
    """As many on a line as fit."""
    row: list[str] = []
    for item in items:
        if row and len(", ".join([*row, item])) > 84:
            yield row
            row = []
        row.append(item)
    if row:
        yield row
