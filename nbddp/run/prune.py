"""Old runs, looked at briefly and deleted when asked; never one that lives."""

from __future__ import annotations

import platform
import re
from pathlib import Path

from nbddp.run.folder.files import reading
from nbddp.run.folder.folder import RunFolder
from nbddp.run.folder.folders import remove, runs_in
from nbddp.run.processes.session import members
from nbddp.run.state.events import events_in, parsed
from nbddp.run.state.fold import fold_all
from nbddp.run.state.state import Event, RunState
from nbddp.run.supervision.leader import leader_of
from nbddp.run.watch import why_lost

GLANCE = 1 << 14  # bytes of events read at each end


def prune(root: Path, keep: int = 0) -> list[RunFolder]:
    """Delete all but the newest so many of this folder's runs; living ones stay and do not count."""
    dead = [folder for folder in runs_in(root) if not lives(folder)]
    return remove(dead[: len(dead) - keep] if keep else dead)


def lives(folder: RunFolder) -> bool:
    """Whether it still runs, or might: on another machine its processes cannot be seen."""
    leader = leader_of(folder)
    if leader is None:
        return not why_lost(folder)
    if leader.host != platform.node():
        return not any(event.get("event") == "exit" for event in _ends(folder.events))
    return bool(members(leader, folder.path))


def glance(folder: RunFolder) -> RunState:
    """Its state from the first and the last events: enough for a list, and quick for a run of any length."""
    state = fold_all(RunState(name=folder.name), _ends(folder.events))
    why = "" if state.exit else why_lost(folder)
    if not why:
        return state
    state = fold_all(RunState(name=folder.name), [*_ends(folder.events), *events_in(folder.reserve)])
    lost: Event = {"event": "lost", "time": None, "rank": None, "message": why}
    return state if state.exit else fold_all(state, [lost])  # it may have ended well between the two readings


def _ends(path: Path) -> list[Event]:
    try:
        with reading(path) as file:
            head = file.read(GLANCE)
            size = file.seek(0, 2)
            file.seek(max(len(head), size - GLANCE))
            tail = file.read()
    except OSError:
        return []
    return [event for line in re.split(rb"\n", head + b"\n" + tail) if line and (event := parsed(line))]
