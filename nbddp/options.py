"""What a user can ask of an export; one meaning and one spelling at every front door."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace


@dataclass(frozen=True)
class Options:
    """None: as the line of `%%ddp_train` in the training cell says, else as the comment here does."""

    train: int | None = None  # number of the training cell, where no mark names it
    nproc: int | None = None  # default of the script's --nproc; every GPU, else 2 CPU processes
    batch_per_rank: bool | None = None  # the notebook's batch size is each process's; it is that of all together
    sync_batchnorm: bool | None = None  # BatchNorm over the batches of all ranks; over each rank's own
    exact: bool | None = None  # every batch is drawn whole and split: the numbers of one process, loading not shared
    checkpoints: bool | None = None  # the script itself writes them and goes on from one: --checkpoint, --resume
    slurm: bool | None = None  # the script finds its place among the tasks that srun has started
    snapshot: tuple[str, ...] | None = None  # names whose values the kernel hands over; () for none
    shard: bool | None = None  # FSDP2: each process keeps a part of the model; each has the whole one
    per_machine: bool | None = None  # one process for each machine, its GPUs in nn.DataParallel; one for each GPU

    def over(self, others: Options) -> Options:
        """These, and where these say nothing the others."""
        mine = {name: getattr(self, name) for name in (each.name for each in fields(self))}
        return replace(others, **{name: value for name, value in mine.items() if value is not None})
