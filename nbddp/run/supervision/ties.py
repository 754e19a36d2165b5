"""What a run does not outlive: its folder, and the process that started it, where it was started to be shown there."""

from __future__ import annotations

import os

from nbddp.run.folder.folder import RunFolder
from nbddp.run.processes.process import ProcessId, alive, from_json

WITHOUT_OWNER = 1.5  # seconds to end by itself, for a run that nobody looks at any more


class Ties:
    """Of one run. A folder that was only moved is still there: it is known by what it is, not by its name."""

    def __init__(self, folder: RunFolder) -> None:
        self.place = os.open(folder.path, os.O_RDONLY)
        self.owner = _owner(folder)

    def grace(self, usual: float) -> float:
        """How long its processes have to end by themselves."""
        if not self.has_folder():
            return 0.0  # there is nothing left to bring to an end
        return usual if self.has_owner() else min(usual, WITHOUT_OWNER)

    def broken(self) -> bool:
        return not (self.has_folder() and self.has_owner())

    def has_folder(self) -> bool:
        try:
            return os.fstat(self.place).st_nlink > 0
        except OSError:  # as on a network file system, where another machine has deleted it
            return False

    def has_owner(self) -> bool:
        return self.owner is None or alive(self.owner)


def _owner(folder: RunFolder) -> ProcessId | None:
    try:
        return from_json(folder.read_command()["owner"])
    except (KeyError, TypeError):
        return None
