"""The catalogue: what changes between a notebook's loop and its DDP script, one file for each.

`RULES` is the table of contents of the product. Where two rules put something at one place, the later stands outside.
"""

from __future__ import annotations

from types import ModuleType

from nbddp.rules import (
    accelerate,
    accumulate,
    batch_size,
    buffers,
    checkpoints,
    decide,
    device,
    download,
    epoch,
    evaluation,
    folder,
    full_state,
    fully_shard,
    gradients,
    hugging_face,
    lightning,
    lightning_logs,
    loss,
    namespaces,
    reduce,
    refuse,
    report,
    resume,
    runners,
    sampler,
    save,
    seed,
    sharded,
    show,
    split,
    total_norm,
    track,
    wrap,
)

RULES: tuple[ModuleType, ...] = (
    refuse,
    device,
    download,
    folder,
    batch_size,
    sampler,
    evaluation,
    wrap,
    fully_shard,
    total_norm,
    sharded,
    split,
    loss,
    gradients,
    buffers,
    accumulate,
    seed,
    resume,
    reduce,
    decide,
    full_state,
    save,
    track,
    show,
    namespaces,
    report,
    checkpoints,
    epoch,
    lightning,
    lightning_logs,
    accelerate,
    hugging_face,
    runners,
)
# Where a framework trains, it deals out, wraps and puts together; what is left is what any script needs.
BESIDE_A_FRAMEWORK = (
    refuse, sharded, device, download, loss, save, track, show, namespaces, lightning, lightning_logs, accelerate,
    hugging_face, runners,
)  # fmt: skip
