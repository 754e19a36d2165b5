"""Where each rank is right now, asked from outside: a signal makes it write its own stack, and training goes on."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path

from nbddp.run.folder.folder import RunFolder
from nbddp.run.processes.inside import STACK_SIGNAL
from nbddp.run.processes.process import PROC, look_up, send

WITHIN = 2.0  # seconds
UNKNOWN = "its stack is not available: the process had not started far enough to report it"
FROZEN = "it did not answer within {seconds:g} seconds: it is stopped, or waits in a system call ({state})"
LONGEST = 20_000


def ask_for_stacks(folder: RunFolder, processes: Mapping[str, int], within: float = WITHIN) -> dict[str, str]:
    """The stack of each of these processes, or a sentence in its place."""
    before: dict[str, int] = {}
    for name, pid in processes.items():
        entry, path = look_up(pid), folder.stacks / f"{pid}.txt"
        if entry is not None and path.exists() and listens(pid):
            before[name] = path.stat().st_size
            send(entry, STACK_SIGNAL)
    return {name: _answer(folder, pid, before.get(name), time.monotonic() + within) for name, pid in processes.items()}


def listens(pid: int) -> bool:
    """Whether the process has a handler for the signal; one without would die of it."""
    try:
        lines = (PROC / str(pid) / "status").read_text().splitlines()
    except OSError:
        return not PROC.joinpath("self/stat").exists()  # the file of its own stands for it
    caught = next((int(line.split()[1], 16) for line in lines if line.startswith("SigCgt:")), 0)
    return bool(caught >> (STACK_SIGNAL - 1) & 1)


def _answer(folder: RunFolder, pid: int, size: int | None, until: float) -> str:
    if size is None:
        return UNKNOWN
    path = folder.stacks / f"{pid}.txt"
    text = ""
    while time.monotonic() < until:
        newest = _from(path, size)
        if newest and newest == text:
            return newest[:LONGEST]
        text = newest
        time.sleep(0.05)
    entry = look_up(pid)
    return text[:LONGEST] or FROZEN.format(seconds=WITHIN, state=entry.state if entry else "gone")


def _from(path: Path, offset: int) -> str:
    try:
        return path.read_bytes()[offset:].decode("utf-8", "replace")
    except OSError:
        return ""
