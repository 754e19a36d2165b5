"""What a user can ask of an export; one meaning and one spelling at every front door."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Options:
    """The defaults are those of `nbddp export` without an option."""

    train: int | None = None  # number of the training cell, where no mark names it
    nproc: int | None = None  # default of the script's --nproc; None: every GPU, else 2 CPU processes
    batch_per_rank: bool = False  # the notebook's batch size is each process's, not that of all together
    sync_batchnorm: bool = False  # BatchNorm over the batches of all ranks
