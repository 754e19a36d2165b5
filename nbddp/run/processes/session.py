"""All processes of one run, found by its session, and how to end them."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

from nbddp.run.processes.process import PROC, Entry, ProcessId, boot, descendants, look_up, send, snapshot

KILL_WITHIN = 10.0  # seconds that the system may take to end a killed process; one stuck in a driver may take longer


def members(leader: ProcessId, folder: Path, inside: bool = False) -> list[Entry]:
    """The living processes of the run that this supervisor leads, itself included.

    While any of them lives the system gives the session's number to nobody else. Once all have gone it may, and what a
    folder says of its leader anybody may have written there. So the leader must show that it belongs to this run's
    folder, and where it has gone each process found must, unless who asks is `inside` the session.
    """
    if leader.boot != boot():
        return []
    table = snapshot()
    now = table.get(leader.pid)
    if now is not None and now.started != leader.started:
        return []
    found = {entry.pid: entry for entry in table.values() if entry.session == leader.pid}
    if now is None or now.dead or not (inside or belongs(now.pid, folder)):  # a dying one shows nothing any more
        return [entry for entry in found.values() if not entry.dead and (inside or belongs(entry.pid, folder))]
    found |= {entry.pid: entry for entry in descendants(leader.pid, table)} | {leader.pid: now}
    return [entry for entry in found.values() if not entry.dead]


def belongs(pid: int, folder: Path) -> bool:
    """Whether a process was started for this run, or writes to its logs."""
    here = PROC / str(pid)
    inside = tuple(os.fsencode(path) + b"/" for path in (folder, folder.resolve()))  # the system tells without links
    try:
        environ = b"\0" + (here / "environ").read_bytes()
        if any(b"\0NBDDP_EVENTS=" + path in environ for path in inside):
            return True
        return any(os.fsencode(link.readlink()).startswith(inside) for link in (here / "fd/1", here / "fd/2"))
    except OSError:
        return not PROC.joinpath("self/stat").exists() and look_up(pid) is not None


def end(find: Callable[[], list[Entry]], grace: float, between: Callable[[], None] = lambda: None) -> list[Entry]:
    """End all that `find` finds, again and again until it finds none: first asking, after the grace killing.

    `between` is called while waiting. Whoever has not gone in the end is returned.
    """
    asked: set[int] = set()
    began = time.monotonic()
    while left := find():
        waited = time.monotonic() - began
        if waited > grace + KILL_WITHIN:
            return left
        for entry in left:
            if waited >= grace:
                send(entry, signal.SIGKILL)
            elif entry.pid not in asked:
                asked.add(entry.pid)
                send(entry, signal.SIGTERM)
        time.sleep(0.02)
        between()
    return []
