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


def append(folder: RunFolder, name: str, /, **fields: object) -> None:
    """Report something as the launcher (rank None), at the current time."""
    event = {"event": name, "time": time.time(), "rank": None, **fields}
    line = (json.dumps(event, default=str) + "\n").encode()
    try:
        _write(folder.events, line)
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


def events_in(reserve: Path) -> list[Event]:
    """Those that could not be appended when they happened."""
    try:
        with reading(reserve) as file:
            lines = re.split(rb"[\0\n]+", file.read())
    except OSError:
        return []
    return [event for line in lines if line and (event := parsed(line))]
