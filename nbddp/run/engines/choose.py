"""Which engine has a run."""

from __future__ import annotations

from nbddp.run.engines.protocol import Engine
from nbddp.run.engines.queue import Queued
from nbddp.run.engines.ray.engine import RAY
from nbddp.run.engines.slurm.engine import SLURM
from nbddp.run.engines.this_machine import ThisMachine
from nbddp.run.folder.folder import RunFolder
from nbddp.run.start.command import RunOptions

QUEUES = {queue.name: queue for queue in (SLURM, RAY)}


def asked_for(options: RunOptions) -> Engine:
    return ThisMachine() if options.job is None else Queued(QUEUES[options.job.engine])


def engine_of(folder: RunFolder) -> Engine:
    """By the folder, from whatever machine one looks."""
    if not folder.job.exists():
        return ThisMachine()
    return Queued(QUEUES.get(str(folder.read_job().get("engine")), SLURM))
