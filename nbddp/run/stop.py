"""Stopping a run, in three grades, from any process of the same user. Each leaves no process of the run behind.

epoch: it finishes its epoch and delivers its result. now: asked to end, and after a grace killed; the last checkpoint
is kept. kill: at once.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable

from nbddp.run.folder.files import opened
from nbddp.run.folder.folder import RunFolder
from nbddp.run.folder.folders import remove
from nbddp.run.processes.process import Entry, ProcessId, alive, look_up, send
from nbddp.run.processes.session import KILL_WITHIN, end, members
from nbddp.run.state.endings import GRADES
from nbddp.run.state.events import append
from nbddp.run.supervision.leader import leader_of

CLAIMED_WITHIN = 5.0  # seconds from taking a run to having said who did; on a busy machine it may be some
FORCED = "The process that supervises the run did not end when asked, and was killed."


def stop(folder: RunFolder, grade: str = "now") -> list[int]:
    """Stop it; for the harder two grades, back when all its processes have gone. Those that have not are returned."""
    if grade not in GRADES:
        raise ValueError(f"there is no way to stop called {grade!r}; choose one of {', '.join(GRADES)}")
    leader = leader_of(folder)
    if leader is None or not members(leader, folder.path):
        return []
    append(folder, "stopping", grade=grade)
    if grade == "epoch":
        os.close(opened(folder.stop, os.O_WRONLY | os.O_CREAT))
        return []
    left = _stop_now(folder, leader) if grade == "now" else _kill(folder, leader)
    return [entry.pid for entry in left]


def withdraw(folder: RunFolder) -> None:
    """Undo a start that was broken off, however far it had got: a supervisor still on its way finds the run taken."""
    try:
        folder.supervisor.touch(mode=0o600, exist_ok=False)
    except FileExistsError:  # a supervisor has it, and may be about to write down who it is
        _until(lambda: leader_of(folder) is not None, CLAIMED_WITHIN)
    except OSError:
        pass
    if leader_of(folder) is None:
        _discard(folder)
    else:
        stop(folder, "kill")


def _discard(folder: RunFolder) -> None:
    """Gone at once for whoever is on the way to it: a folder that is half deleted could be taken once more."""
    aside = RunFolder(folder.path.with_name(f".{folder.name}"))
    with contextlib.suppress(OSError):
        folder.path.rename(aside.path)
    remove([folder, aside])


def _stop_now(folder: RunFolder, leader: ProcessId) -> list[Entry]:
    """Ask the supervisor, which ends the rest and writes down how. Where it cannot, do it here."""
    entry = look_up(leader.pid)
    if entry is not None and alive(leader):
        send(entry, signal.SIGTERM)
        grace = folder.read_command().get("grace", 5.0)
        _until(lambda: not members(leader, folder.path), grace + KILL_WITHIN)
    return _force(folder, leader)


def _kill(folder: RunFolder, leader: ProcessId) -> list[Entry]:
    """All but the supervisor, which then writes the end; should it not get to that, it goes as well.

    One that has only just taken the run has nothing to lose yet, and starts it all the same: hence again and again.
    """

    def gone() -> bool:
        end(lambda: [entry for entry in members(leader, folder.path) if entry.pid != leader.pid], grace=0.0)
        return not alive(leader)

    _until(gone, 3.0)
    return _force(folder, leader)


def _force(folder: RunFolder, leader: ProcessId) -> list[Entry]:
    """End what is left. How is written before: once the supervisor is gone without a word, a run counts as lost."""
    if members(leader, folder.path):
        append(folder, "exit", status=None, signal="SIGKILL", cause=FORCED, forced=True)
    return end(lambda: members(leader, folder.path), grace=0.0)


def _until(done: Callable[[], bool], seconds: float) -> None:
    until = time.monotonic() + seconds
    while not done() and time.monotonic() < until:
        time.sleep(0.02)
