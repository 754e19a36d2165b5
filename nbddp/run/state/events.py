"""Events of a run as lines of JSON: written one at a time, parsed one at a time."""

from __future__ import annotations

import contextlib
import json
import os
import re
import time
from pathlib import Path

from nbddp.run.folder.files import opened, reading
from nbddp.run.folder.folder import RESERVED, RunFolder
from nbddp.run.state.state import Event

GLANCE = 1 << 14  # bytes of events read at each end


def append(folder: RunFolder, name: str, /, **fields: object) -> None:
    """Report something as the launcher (rank None), at the current time."""
    event = {"event": name, "time": time.time(), "rank": None, **fields}
    line = (json.dumps(event, default=str) + "\n").encode()
    try:
        _write(folder.own_events(), line)
    except OSError:  # the disk is full, or the folder has gone: what was set aside may still take it
        with contextlib.suppress(OSError):
            _write_reserve(folder.reserve, line)


def _write(path: Path, line: bytes) -> None:
    descriptor = opened(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    try:
        if os.write(descriptor, line) != len(line):
            raise OSError("only a part of the line was written")
    finally:
        os.close(descriptor)


def _write_reserve(path: Path, line: bytes) -> None:
    """Overwrite in place, after what is there. The first half is the main process's own."""
    descriptor = opened(path, os.O_RDWR)
    try:
        used = os.pread(descriptor, RESERVED, 0)
        place = max(RESERVED // 2, len(used.rstrip(b"\0")))
        if place + len(line) <= RESERVED:
            os.pwrite(descriptor, line, place)
    finally:
        os.close(descriptor)


def parsed(line: bytes) -> Event | None:
    """The event of one line, or None where it is none."""
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return event if isinstance(event, dict) else None


def has_event(folder: RunFolder, name: str) -> bool:
    """Whether any of its files has one, which is among the first or the last."""
    return any(event.get("event") == name for event in first_and_last(folder))


def first_and_last(folder: RunFolder) -> list[Event]:
    """Those at the two ends of each file, in the order of time: enough for a list, and quick however long the run."""
    events = [event for path in folder.event_files for event in _ends(path)]
    return sorted(events, key=time_of)


def time_of(event: Event) -> float:
    """Zero where it has none."""
    time = event.get("time")
    return float(time) if isinstance(time, int | float) else 0.0


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


def events_in(reserve: Path) -> list[Event]:
    """Those that could not be appended when they happened."""
    try:
        with reading(reserve) as file:
            lines = re.split(rb"[\0\n]+", file.read())
    except OSError:
        return []
    return [event for line in lines if line and (event := parsed(line))]
