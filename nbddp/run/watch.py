"""A run followed from its files: new events and log lines in, states out."""

from __future__ import annotations

import threading
from collections.abc import Callable

from nbddp.run.engines.choose import engine_of
from nbddp.run.folder.folder import RunFolder
from nbddp.run.log.event_files import EventReader
from nbddp.run.log.reading import LogReader, Tail
from nbddp.run.state.events import append
from nbddp.run.state.fold import fold_all
from nbddp.run.state.state import Event, RunState


class Watch:
    """One view's reading of a run; it may be asked from several threads."""

    def __init__(self, folder: RunFolder) -> None:
        self.folder = folder
        self.lock = threading.Lock()
        self.events = EventReader(folder)
        self.logs: dict[int, LogReader] = {}
        self.state = RunState(name=folder.name)
        self.engine = engine_of(folder)
        self.told: tuple[Event, ...] | None = None  # by the engine
        self.keeps = False  # what the engine says of the end is written down, for the engine may forget it
        self.behind = True
        self.complete = False

    def look(self) -> RunState:
        """The state after one bounded piece of reading; while `behind`, there is more on disk."""
        with self.lock:
            if not self.complete:
                self._read()
            if not self.complete and not self.behind:
                self._ask()
            return self.state

    def _ask(self) -> None:
        """The engine, for what the run itself does not say."""
        last = None if self.state.exit else self.engine.why(self.folder)
        if last or self.state.exit:
            self._finish(last)
            if last and last["event"] == "exit" and self.keeps:
                append(self.folder, "exit", **{name: value for name, value in last.items() if name != "event"})
        elif self.told is None or self.state.job:  # what this machine says of another does not change
            told, before = self.engine.state(self.folder).told, self.told or ()
            self.state = fold_all(self.state, [event for event in told if event not in before])
            self.told = told

    def catch_up(self) -> RunState:
        """The state with all that is on disk now. What is written meanwhile may wait: it could come for ever."""
        state = self.look()
        written: dict[Tail, int] = {}
        while self.behind:
            tails = [*self.events.tails, *(log.tail for log in self.logs.values())]
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
        for rank in range(len(self.logs), self.state.world_size or 1):
            self.logs[rank] = LogReader(self.folder, rank)
        return [line for log in self.logs.values() for line in read(log)]

    def _finish(self, last: Event | None) -> None:
        """Nobody writes any more: what came since the last look, lines without an end, events put into the reserve."""
        self._read()
        if self.behind:
            return
        rest = [*self.events.finish(), *self._lines(LogReader.finish), *([last] if last else [])]
        self.state = fold_all(self.state, rest)
        self.complete = True
