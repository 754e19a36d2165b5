"""events.jsonl and logs, read as they grow, and whatever has happened to them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from nbddp.run.folder.files import reading
from nbddp.run.folder.folder import RunFolder
from nbddp.run.state.printed import plain
from nbddp.run.state.state import Event
from nbddp.run.state.words import size

AT_ONCE = 1 << 16  # bytes that one call reads at most, so that a view stays alive during a burst
FAR_BEHIND = 1 << 23  # bytes of rank 0's log that may wait to be searched, some seconds' work; of more, the end
MOST_SHOWN = 1 << 18  # bytes of it that may wait to be shown: nobody reads as fast as that
LONGEST_LINE = 1 << 16  # of a log, before it is cut
LONGEST_EVENT = 1 << 24


class Tail:
    """A growing file, a piece at a time. Where it is missing there is nothing to read, yet or any more."""

    def __init__(self, path: Path, longest: int) -> None:
        self.path = path
        self.longest = longest
        self.offset = 0
        self.rest = b""

    def read(self, ends: re.Pattern[bytes]) -> list[bytes]:
        """Lines that are complete by now, none only where no more of them are; an endless one is cut."""
        while new := self._piece():
            *lines, self.rest = ends.split(self.rest + new)
            if len(self.rest) > self.longest:
                lines.append(self.rest)
                self.rest = b""
            if lines:
                return lines
        return []

    def _piece(self) -> bytes:
        try:
            with reading(self.path) as file:
                file.seek(self.offset)
                new = file.read(AT_ONCE)
        except OSError:
            return b""
        self.offset += len(new)
        return new

    def size(self) -> int:
        """How many bytes there are now."""
        try:
            return self.path.stat().st_size
        except OSError:
            return 0

    def skip_to_last(self, most: int) -> int:
        """Leave out what is more than so many bytes from the end; how many were left out."""
        skipped = max(0, self.size() - most - self.offset)
        if skipped:
            self.offset += skipped
            self.rest = b""
        return skipped

    def finish(self) -> bytes:
        """What is left without an end, once nobody writes any more."""
        rest, self.rest = self.rest, b""
        return rest


class LogReader:
    """The lines of one rank's log as events of the fold. A carriage return ends a line too: progress bars use it.

    Of rank 0 every line counts, for the numbers in it. Of the others the latest do. Where more than `most` bytes wait,
    the last quarter of so many is gone on with: what is skipped is skipped in one piece, and said once.
    """

    ends = re.compile(rb"\r\n|\n|\r")

    def __init__(self, folder: RunFolder, rank: int, most: int | None = None) -> None:
        self.folder = folder
        self.tail = Tail(folder.log(rank), LONGEST_LINE)
        self.rank = rank
        self.most = most or (FAR_BEHIND if rank == 0 else AT_ONCE)

    def read(self) -> list[Event]:
        """Those that came since the last call."""
        waits = self.tail.size() - self.tail.offset
        if waits <= 0:
            return []  # as most logs of hundreds of ranks say each time: none of them is opened
        skipped = self.tail.skip_to_last(self.most // 4) if waits > self.most else 0
        lines = [self._event(line) for line in self.tail.read(self.ends)]
        if skipped and self.rank == 0:
            message = f"{skipped >> 20} MiB of rank 0's log were not searched for numbers: the log grows too fast"
            lines[:1] = [{"event": "warning", "time": None, "rank": None, "message": message, "skipped": skipped}]
        return lines

    def finish(self) -> list[Event]:
        """A last line without an end."""
        rest = self.tail.finish()
        return [self._event(rest)] if rest else []

    def _event(self, line: bytes) -> Event:
        return {"event": "line", "time": None, "rank": self.rank, "text": line.decode("utf-8", "replace")}


def new_lines(log: LogReader, over: bool) -> Iterator[str]:
    """All that is there by now, or the end of it; what comes meanwhile may wait, or a flood would never let go."""
    until = log.tail.size()
    while events := log.read():
        yield from map(partial(_shown, log.folder.name), events)
        if not over and log.tail.offset >= until:
            return
    if over:
        yield from map(partial(_shown, log.folder.name), log.finish())


def _shown(run: str, event: Event) -> str:
    if skipped := event.get("skipped"):
        return f"… {size(skipped)} of rank 0's output are not shown; all of it: nbddp log {run}"
    return plain(event["text"])
