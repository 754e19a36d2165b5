"""The events of a run in the order of time, out of one file for each machine that takes part."""

from __future__ import annotations

import re
import time
from pathlib import Path

from nbddp.run.folder.folder import RunFolder
from nbddp.run.log.reading import LONGEST_EVENT, Tail
from nbddp.run.state.events import events_in, parsed, time_of
from nbddp.run.state.state import Event

ENDS = re.compile(rb"\n")
LIST_EVERY = 0.5  # seconds between two looks for files of further machines


class EventFiles:
    """The files, found as they come; a run of one machine has one."""

    def __init__(self, folder: RunFolder) -> None:
        self._folder = folder
        self._tails = {folder.events: Tail(folder.events, LONGEST_EVENT)}
        self._listed = 0.0

    def tails(self) -> list[Tail]:
        now = time.monotonic()
        if now > self._listed + LIST_EVERY and self._folder.job.exists():
            self._listed = now
            for path in self._folder.event_files:
                self._tails.setdefault(path, Tail(path, LONGEST_EVENT))
        return list(self._tails.values())


class EventReader:
    """What cannot be read is reported as an event of its own."""

    def __init__(self, folder: RunFolder) -> None:
        self._files = EventFiles(folder)
        self._read: dict[Path, OneFile] = {}
        self._reserve = folder.reserve

    @property
    def tails(self) -> list[Tail]:
        """Those that are read."""
        return [one.tail for one in self._all()]

    def _all(self) -> list[OneFile]:
        for tail in self._files.tails():
            self._read.setdefault(tail.path, OneFile(tail))
        return list(self._read.values())

    def read(self) -> list[Event]:
        """Those that came since the last call, up to a limit: ask again while there are some.

        Of a file that has been read to its end nothing earlier can come; of another, only what is later than its last.
        """
        files = self._all()
        for one in files:
            one.read()
        if len(files) == 1:
            return files[0].take(float("inf"))
        until = min((one.last for one in files if one.has_more), default=float("inf"))
        return sorted((event for one in files for event in one.take(until)), key=time_of)

    def finish(self) -> list[Event]:
        """What is only to be looked at when nobody writes any more: a line cut short, and the reserve."""
        return [event for one in self._all() for event in one.finish()] + events_in(self._reserve)


class OneFile:
    """Of one machine, whose own order is that of the file."""

    def __init__(self, tail: Tail) -> None:
        self.tail = tail
        self.last = 0.0  # the time of the last event that was read
        self._number = 0
        self._waiting: list[Event] = []

    @property
    def has_more(self) -> bool:
        return self.tail.size() > self.tail.offset

    def read(self) -> None:
        """A piece, unless there still is one."""
        if not self._waiting:
            for line in self.tail.read(ENDS):
                self._number += 1
                self._waiting += self._parse(line)
            self.last = max([self.last, *map(time_of, self._waiting)])

    def take(self, until: float) -> list[Event]:
        taken = [event for event in self._waiting if time_of(event) <= until]
        self._waiting = [event for event in self._waiting if time_of(event) > until]
        return taken

    def finish(self) -> list[Event]:
        rest = self.tail.finish()
        self._number += bool(rest)
        return self._waiting + self._parse(rest)

    def _parse(self, line: bytes) -> list[Event]:
        if not line.strip():
            return []
        if event := parsed(line):
            return [event]
        # A line that was cut short (a full disk) has the next one glued to it: that one is whole.
        start = line.rfind(b'{"event"')
        whole = parsed(line[start:]) if start > 0 else None
        message = f"line {self._number} of {self.tail.path.name} is not readable and was left out"
        return [{"event": "unreadable", "time": None, "rank": None, "message": message}, *([whole] if whole else [])]
