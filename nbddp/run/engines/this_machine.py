"""The machine that the run is started on."""

from __future__ import annotations

import platform
import time
from collections.abc import Sequence

from nbddp.run.engines.protocol import Standing
from nbddp.run.folder.folder import RunFolder
from nbddp.run.processes.process import alive, boot
from nbddp.run.processes.session import members
from nbddp.run.start.command import Command, RunOptions
from nbddp.run.start.launch import Helper, launch
from nbddp.run.state.state import Event
from nbddp.run.stop import stop
from nbddp.run.supervision.leader import leader_of

UNCLAIMED_FOR = 120.0  # seconds after which a run that nobody has taken will not start any more

DELETED = "Its folder was deleted."
NEVER_BEGAN = "It never started: no process has picked it up."
RESTARTED = "The machine was restarted while it ran."
VANISHED = "Its processes ended without a message, as when all of them are killed."


class ThisMachine:
    """Its answers are had at once."""

    def submit(self, folder: RunFolder, name: str, options: RunOptions, command: Command, helper: Helper) -> None:
        launch(folder, name, options, command, helper)

    def state(self, folder: RunFolder, wait: float = 0.0) -> Standing:  # noqa: ARG002 -- nobody is waited for
        leader = leader_of(folder)
        if leader is None:
            return Standing(not why_lost(folder))
        if leader.host == platform.node() or alive(leader):
            return Standing(bool(members(leader, folder.path)))
        message = (
            f"It was started on {leader.host}; from here its files can be read, but not whether it is still running."
        )
        told: Event = {"event": "warning", "time": None, "rank": None, "message": message}
        return Standing(None, (told,))

    def stop(self, folder: RunFolder, grade: str) -> Sequence[int]:
        return stop(folder, grade)

    def why(self, folder: RunFolder, wait: float = 0.0) -> Event | None:  # noqa: ARG002
        why = why_lost(folder)
        return {"event": "lost", "time": None, "rank": None, "message": why} if why else None


def why_lost(folder: RunFolder) -> str:
    """A sentence where nothing more will be written; nothing where the run goes on, or cannot be seen from here."""
    if not folder.path.exists():
        return DELETED
    leader = leader_of(folder)
    if leader is None:
        return NEVER_BEGAN if time.time() - folder.path.stat().st_mtime > UNCLAIMED_FOR else ""
    if alive(leader) or leader.host != platform.node():
        return ""
    if leader.boot != boot():
        return RESTARTED
    return "" if members(leader, folder.path) else VANISHED
