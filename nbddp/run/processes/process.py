"""Processes, named so that a number used again by the system is never taken for the one that had it before.

A run is a session of its own: its supervisor leads it, and all that the run starts is in it, or descends from it. So
every process of a run can be found, and nothing else ever is.
"""

from __future__ import annotations

import os
import platform
import signal
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path

PROC = Path("/proc")


@dataclass(frozen=True)
class ProcessId:
    """A process for good: its number, when it started, and on which machine since which boot."""

    pid: int
    started: str
    boot: str
    host: str

    def as_json(self) -> dict[str, object]:
        """What is kept of it on disk."""
        return asdict(self)


@dataclass(frozen=True)
class Entry:
    """One process, as the system lists it."""

    pid: int
    parent: int
    group: int
    session: int
    state: str
    started: str

    @property
    def dead(self) -> bool:
        """A zombie runs nothing and holds nothing: only its parent has not looked yet."""
        return self.state[:1] in {"Z", "X"}


@lru_cache(maxsize=1)
def boot() -> str:
    """Which boot of which machine this is: process numbers mean nothing in another."""
    try:
        return (PROC / "sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        command = ["sysctl", "-n", "kern.boottime"]
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


def identify(pid: int) -> ProcessId | None:
    """The process that has this number now."""
    entry = look_up(pid)
    return None if entry is None else ProcessId(pid, entry.started, boot(), platform.node())


def from_json(fields: Mapping[str, object]) -> ProcessId:
    """What `as_json` kept; TypeError or KeyError where it is something else."""
    pid = fields["pid"]
    if not isinstance(pid, int):
        raise TypeError(f"not a process number: {pid!r}")
    return ProcessId(pid, str(fields["started"]), str(fields["boot"]), str(fields["host"]))


def alive(process: ProcessId) -> bool:
    """Whether this very process still runs, on this machine."""
    entry = look_up(process.pid) if process.boot == boot() else None
    return entry is not None and entry.started == process.started and not entry.dead


def look_up(pid: int) -> Entry | None:
    """One process, or None where there is none."""
    if not PROC.joinpath("self/stat").exists():
        return _listed_by_ps().get(pid)
    try:
        return _parse(pid, (PROC / str(pid) / "stat").read_text(errors="replace"))
    except (OSError, ValueError, IndexError):
        return None


def snapshot() -> dict[int, Entry]:
    """All processes of this machine that may be seen."""
    if not PROC.joinpath("self/stat").exists():
        return _listed_by_ps()
    entries = (look_up(int(name)) for name in os.listdir(PROC) if name.isdigit())
    return {entry.pid: entry for entry in entries if entry is not None}


def _parse(pid: int, text: str) -> Entry:
    """/proc/<pid>/stat: the command, in parentheses, may itself hold any character."""
    fields = text[text.rindex(")") + 2 :].split()
    return Entry(pid, int(fields[1]), int(fields[2]), int(fields[3]), fields[0], fields[19])


def _listed_by_ps() -> dict[int, Entry]:
    """Where there is no /proc (macOS)."""
    command = ["ps", "-axo", "pid=,ppid=,pgid=,stat=,lstart="]
    listed = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    entries = {}
    for line in listed.splitlines():
        pid, parent, group, state, started = line.split(None, 4)
        entries[int(pid)] = Entry(int(pid), int(parent), int(group), _session(int(pid)), state, started)
    return entries


def _session(pid: int) -> int:
    try:
        return os.getsid(pid)
    except OSError:
        return -1


def send(entry: Entry, number: int) -> None:
    """Signal this process, and no other one that got its number in the meantime."""
    try:
        descriptor = os.pidfd_open(entry.pid) if hasattr(os, "pidfd_open") else None
    except OSError:
        return
    try:
        now = look_up(entry.pid)
        if now is None or now.started != entry.started:
            return
        if descriptor is None:
            os.kill(entry.pid, number)
        else:
            signal.pidfd_send_signal(descriptor, number)
    except (ProcessLookupError, PermissionError):
        pass
    finally:
        if descriptor is not None:
            os.close(descriptor)


def descendants(pid: int, table: Mapping[int, Entry]) -> Iterator[Entry]:
    """The children of a process, theirs, and so on."""
    children: dict[int, list[Entry]] = {}
    for entry in table.values():
        children.setdefault(entry.parent, []).append(entry)
    waiting = [pid]
    while waiting:
        for entry in children.get(waiting.pop(), ()):
            yield entry
            waiting.append(entry.pid)
