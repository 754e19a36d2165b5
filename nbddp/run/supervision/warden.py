"""Watches over the supervisor, as it does over the ranks: when it is killed outright, none of them may stay behind."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable
from dataclasses import dataclass

from nbddp.run.folder.folder import RunFolder
from nbddp.run.processes.fork import fork
from nbddp.run.processes.process import ProcessId
from nbddp.run.processes.session import end, members
from nbddp.run.state.events import append

GRACE = 2.0  # seconds for the ranks to go by themselves
WHY = "The process that supervised the run was killed, so its ranks were stopped."


@dataclass(frozen=True)
class Warden:
    """A process that does nothing until the supervisor is gone, which it sees by the end of a pipe."""

    pid: int
    pipe: int

    def dismiss(self) -> None:
        """The supervisor has done its work."""
        try:
            os.write(self.pipe, b".")
            os.close(self.pipe)
            os.waitpid(self.pid, 0)
        except (BrokenPipeError, ChildProcessError):
            pass  # it was killed before; nothing is lost


def start_warden(folder: RunFolder, leader: ProcessId, close: Iterable[int]) -> Warden:
    """Fork it, in the session of the run."""
    ours, its = os.pipe()
    pid = fork(close=[*close, its])
    if pid:
        os.close(ours)
        return Warden(pid, its)
    try:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        if not os.read(ours, 1):
            _take_over(folder, leader)
    finally:
        os._exit(0)


def _take_over(folder: RunFolder, leader: ProcessId) -> None:
    me = os.getpid()
    end(lambda: [entry for entry in members(leader, folder.path, inside=True) if entry.pid != me], GRACE)
    append(folder, "exit", status=None, signal="SIGKILL", cause=WHY, forced=True)  # who killed it may have said why
