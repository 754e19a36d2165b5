"""Old runs, looked at briefly and deleted when asked; never one that lives."""

from __future__ import annotations

import platform
import re
from collections.abc import Sequence
from itertools import accumulate, takewhile
from pathlib import Path

from nbddp.run.folder.files import reading
from nbddp.run.folder.folder import RunFolder
from nbddp.run.folder.folders import bytes_in, remove, runs_in
from nbddp.run.processes.session import members
from nbddp.run.state.events import events_in, parsed
from nbddp.run.state.fold import fold_all
from nbddp.run.state.state import Event, RunState
from nbddp.run.supervision.leader import leader_of
from nbddp.run.watch import why_lost

GLANCE = 1 << 14  # bytes of events read at each end


class Bytes(int):
    """So much of the disk, where otherwise a number of runs is meant."""


def prune(root: Path, keep: int | Bytes = 0) -> list[RunFolder]:
    """Delete all but the newest so many of this folder's runs, or those that fit; living ones stay, uncounted."""
    dead = [folder for folder in runs_in(root) if not lives(folder)]
    kept = _fitting(dead, keep) if isinstance(keep, Bytes) else keep
    return remove(dead[: max(0, len(dead) - kept)])


def delete(folder: RunFolder) -> bool:
    """False, and nothing is deleted, while it runs or may run."""
    return not lives(folder) and remove([folder]) == [folder]


def _fitting(folders: Sequence[RunFolder], most: int) -> int:
    """How many of the newest take no more than this together."""
    sizes = accumulate(bytes_in(folder) for folder in reversed(folders))
    return sum(1 for _ in takewhile(lambda size: size <= most, sizes))


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
