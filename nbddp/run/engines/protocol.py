"""What an engine is. A run stays a folder: what an engine says comes beside what its processes write there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from nbddp.run.folder.folder import RunFolder
from nbddp.run.start.command import Command, RunOptions
from nbddp.run.start.launch import Helper
from nbddp.run.state.state import Event


@dataclass(frozen=True)
class Standing:
    """What an engine knows of a run: whether anything of it is left (None: it cannot tell, from here or just now), and
    events to fold in that no file has."""

    lives: bool | None
    told: tuple[Event, ...] = ()


class Engine(Protocol):
    """Four verbs. Those that ask wait for an answer at most so many seconds, and know what was answered last."""

    def submit(self, folder: RunFolder, name: str, options: RunOptions, command: Command, helper: Helper) -> None:
        """Start it, or have it started; LaunchFailed where that cannot be."""

    def state(self, folder: RunFolder, wait: float = 0.0) -> Standing:
        """How it stands."""

    def stop(self, folder: RunFolder, grade: str) -> Sequence[int]:
        """End it: after this epoch, now with the last checkpoint kept, or at once. What could not be ended is named."""

    def why(self, folder: RunFolder, wait: float = 0.0) -> Event | None:
        """The last event of a run that has ended without having said so; none while it goes on."""
