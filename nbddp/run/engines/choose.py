"""Which engine has a run."""

from __future__ import annotations

from nbddp.run.engines.protocol import Engine
from nbddp.run.engines.slurm.engine import Slurm
from nbddp.run.engines.this_machine import ThisMachine
from nbddp.run.folder.folder import RunFolder
from nbddp.run.start.command import RunOptions


def asked_for(options: RunOptions) -> Engine:
    return ThisMachine() if options.job is None else Slurm()


def engine_of(folder: RunFolder) -> Engine:
    """By the folder, from whatever machine one looks."""
    return Slurm() if folder.job.exists() else ThisMachine()
