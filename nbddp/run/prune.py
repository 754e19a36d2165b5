"""Old runs, looked at briefly and deleted when asked; never one that lives."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, takewhile
from pathlib import Path

from nbddp.run.engines.choose import engine_of
from nbddp.run.folder.folder import RunFolder
from nbddp.run.folder.folders import bytes_in, remove, runs_in
from nbddp.run.state.events import events_in, first_and_last, has_event
from nbddp.run.state.fold import fold_all
from nbddp.run.state.state import RunState

WAIT = 5.0  # seconds, for an engine that has to be asked


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
    """Whether it still runs, or might, where that cannot be told from here."""
    alive = engine_of(folder).state(folder, WAIT).lives
    return not has_event(folder, "exit") if alive is None else alive


def glance(folder: RunFolder) -> RunState:
    """Its state from the first and the last events."""
    engine, state = engine_of(folder), fold_all(RunState(name=folder.name), first_and_last(folder))
    last = None if state.exit else engine.why(folder, WAIT)
    if last is None:
        return state if state.exit or state.job is None else fold_all(state, engine.state(folder).told)
    state = fold_all(RunState(name=folder.name), [*first_and_last(folder), *events_in(folder.reserve)])
    return state if state.exit else fold_all(state, [last])  # it may have ended well between the two readings
