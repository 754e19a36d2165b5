"""A run followed from its files: new events and log lines in, states out."""

from __future__ import annotations

import platform
import threading
import time
from collections.abc import Callable

from nbddp.run.folder.folder import RunFolder
from nbddp.run.log.reading import EventReader, LogReader, Tail
from nbddp.run.processes.process import alive, boot
from nbddp.run.processes.session import members
from nbddp.run.state.fold import fold_all
from nbddp.run.state.state import Event, RunState
from nbddp.run.supervision.leader import leader_of

UNCLAIMED_FOR = 120.0  # seconds after which a run that nobody has taken will not start any more

DELETED = "Its folder was deleted."
NEVER_BEGAN = "It never started: no process has picked it up."
RESTARTED = "The machine was restarted while it ran."
VANISHED = "Its processes ended without a message, as when all of them are killed."


class Watch:
    """One view's reading of a run; it may be asked from several threads."""

    def __init__(self, folder: RunFolder) -> None:
        self.folder = folder
        self.lock = threading.Lock()
        self.events = EventReader(folder)
        self.logs: dict[int, LogReader] = {}
        self.state = fold_all(RunState(name=folder.name), _out_of_sight(folder))
        self.behind = True
        self.complete = False

    def look(self) -> RunState:
        """The state after one bounded piece of reading; while `behind`, there is more on disk."""
        with self.lock:
            if not self.complete:
                self._read()
            if not self.complete and not self.behind:
                why = "" if self.state.exit else why_lost(self.folder)
                if why or self.state.exit:
                    self._finish(why)
            return self.state

    def catch_up(self) -> RunState:
        """The state with all that is on disk now. What is written meanwhile may wait: it could come for ever."""
        state = self.look()
        written: dict[Tail, int] = {}
        while self.behind:
            tails = [self.events.tail, *(log.tail for log in self.logs.values())]
            new = [tail for tail in tails if tail not in written]  # of ranks that the events have told of
            written.update((tail, tail.size()) for tail in new)
            had = not new and all(tail.offset >= size for tail, size in written.items())
            state = self.look()
            if had:
                break
        return state

    def _read(self) -> None:
        events = self.events.read()
        lines = self._lines(LogReader.read)
        self.behind = bool(events or lines)
        self.state = fold_all(self.state, [*events, *lines])

    def _lines(self, read: Callable[[LogReader], list[Event]]) -> list[Event]:
        for rank in range(self.state.world_size or 1):
            self.logs.setdefault(rank, LogReader(self.folder, rank))
        return [line for log in self.logs.values() for line in read(log)]

    def _finish(self, why_lost: str) -> None:
        """Nobody writes any more: what came since the last look, lines without an end, events put into the reserve."""
        self._read()
        if self.behind:
            return
        lost: Event = {"event": "lost", "time": None, "rank": None, "message": why_lost}
        rest = [*self.events.finish(), *self._lines(LogReader.finish), *([lost] if why_lost else [])]
        self.state = fold_all(self.state, rest)
        self.complete = True


def _out_of_sight(folder: RunFolder) -> list[Event]:
    """A folder may be seen on several machines, a process only on its own."""
    leader = leader_of(folder)
    if leader is None or leader.host == platform.node() or alive(leader):
        return []
    message = f"It was started on {leader.host}; from here its files can be read, but not whether it is still running."
    return [{"event": "warning", "time": None, "rank": None, "message": message}]


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
