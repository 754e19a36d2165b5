"""The folders of all runs: a new one made, those there listed, old ones deleted."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import time
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

from nbddp.run.folder.folder import HOME, RESERVED, RunFolder


def create(root: Path, name: str, now: float | None = None) -> RunFolder:
    """A new folder in `<root>/.nbddp/runs`, readable by its owner alone; two of one second get two folders."""
    runs = root.absolute() / HOME / "runs"
    runs.mkdir(mode=0o700, parents=True, exist_ok=True)
    ignore = runs.parent / ".gitignore"
    if not ignore.exists():
        ignore.write_text("*\n", encoding="utf-8")
    stem = f"{datetime.fromtimestamp(time.time() if now is None else now):%Y%m%d-%H%M%S}-{tame(name)}"
    folder = RunFolder(_first_free(runs, stem))
    try:
        folder.logs.mkdir(mode=0o700)
        folder.stacks.mkdir(mode=0o700)
        _set_aside(folder.reserve)
    except OSError:
        remove([folder])
        raise
    return folder


def _first_free(runs: Path, stem: str) -> Path:
    number = 1
    while True:
        path = runs / (stem if number == 1 else f"{stem}-{number}")
        try:
            path.mkdir(mode=0o700)
        except FileExistsError:
            number += 1
        else:
            return path


def tame(name: str) -> str:
    """A name that is safe in a path and on a command line: letters, digits, dots, dashes; never hidden, never empty."""
    return re.sub(r"[^\w.]+", "-", name).strip("-._")[:60] or "run"


def _set_aside(path: Path) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
    try:
        os.write(descriptor, b"\0" * RESERVED)
    finally:
        os.close(descriptor)


def runs_in(root: Path) -> list[RunFolder]:
    """All runs of this folder, oldest first."""
    try:
        paths = list((root.absolute() / HOME / "runs").iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return []
    return [RunFolder(path) for path in sorted(paths, key=_by_time) if path.is_dir() and not path.is_symlink()]


def _by_time(path: Path) -> tuple[str, int, str]:
    """The second, then which one of that second."""
    number = re.search(r"-(\d+)$", path.name)
    return path.name[:15], int(number[1]) if number else 1, path.name


def bytes_in(folder: RunFolder) -> int:
    """What it takes of the disk."""
    found = 0
    for place, _, names in os.walk(folder.path):
        for name in names:
            with contextlib.suppress(OSError):  # it may go meanwhile
                found += os.lstat(os.path.join(place, name)).st_size  # noqa: PTH118 -- `os.walk` gives texts
    return found


def remove(folders: Iterable[RunFolder]) -> list[RunFolder]:
    """Delete these; those are returned that are gone. Whether one still runs is for the caller to have asked."""
    removed = []
    for folder in folders:
        shutil.rmtree(folder.path, ignore_errors=True)
        if not folder.path.exists():
            removed.append(folder)
    return removed
