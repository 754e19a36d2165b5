"""Files of a run's folder, read and written as what they should be: regular files that lie in it.

A server shows the runs of folders that it did not write. There a link could lead to any file of the machine, and a pipe
or a device would keep its reader waiting for ever.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import BinaryIO

NOT_ASIDE = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)  # no link, and no waiting at a pipe
IN_PLACE = NOT_ASIDE | getattr(os, "O_DIRECTORY", 0)


def opened(path: Path, flags: int = os.O_RDONLY) -> int:
    """Its descriptor; an OSError where it is no regular file, or a link, or in a folder that is one."""
    if os.name != "posix":
        return os.open(path, flags, 0o600)
    folder = os.open(path.parent, IN_PLACE)
    try:
        descriptor = os.open(path.name, flags | NOT_ASIDE, 0o600, dir_fd=folder)
    finally:
        os.close(folder)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(f"{path} is not a regular file")
    return descriptor


def reading(path: Path) -> BinaryIO:
    return os.fdopen(opened(path), "rb")


def text_of(path: Path) -> str:
    """All of it; what is no UTF-8 is replaced."""
    with reading(path) as file:
        return file.read().decode("utf-8", "replace")


def write_whole(path: Path, text: str) -> None:
    """Write a file so that a reader sees all of it or nothing."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    with os.fdopen(opened(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), "w", encoding="utf-8") as file:
        file.write(text)
    beside.replace(path)


def is_there(path: Path) -> bool:
    """Whether it could be read."""
    try:
        os.close(opened(path))
    except OSError:
        return False
    return True
