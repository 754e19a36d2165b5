"""What the launcher asks of a process, through its environment."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    """Paths in the run's folder, and what was asked of the run."""

    events: str
    logs: str | None = None  # a folder: each rank writes what it prints to a file there
    result: str | None = None
    stop: str | None = None  # while this file is there, training ends after the current epoch
    start: str | None = None  # the state that a kernel has come to
    resume: str | None = None  # a checkpoint
    checkpoint: str | None = None  # where to write one
    checkpoint_every: str = "1e"  # as the script's own option: 500 batches, 10m, 3e epochs
    backend: str | None = None
    pause: str | None = None  # while this file is there, a job ends after the current epoch, to be started again

    @classmethod
    def of(cls, environ: Mapping[str, str] = os.environ) -> Settings:
        """As the command of the run has set them."""
        return cls(
            environ.get("NBDDP_EVENTS", os.devnull),
            environ.get("NBDDP_LOGS"),
            environ.get("NBDDP_RESULT"),
            environ.get("NBDDP_STOP"),
            environ.get("NBDDP_START"),
            environ.get("NBDDP_RESUME"),
            environ.get("NBDDP_CHECKPOINT"),
            environ.get("NBDDP_CHECKPOINT_EVERY", "1e"),
            environ.get("NBDDP_BACKEND"),
            environ.get("NBDDP_PAUSE"),
        )

    @property
    def epochs_between(self) -> int:
        """Two checkpoints at the ends of epochs."""
        every = self.checkpoint_every
        return int(every[:-1]) if every.endswith("e") else 1

    @property
    def within_epochs(self) -> bool:
        """May one be asked for in the middle of an epoch?"""
        return self.checkpoint is not None and (self.pause is not None or not self.checkpoint_every.endswith("e"))
