"""Forking and what a fresh child has to put right: signals, descriptors, its ties to the parent."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
STOPPING = (signal.SIGTERM, signal.SIGINT)
SIGNALS = (*STOPPING, signal.SIGCHLD, signal.SIGHUP)


def fork(close: Iterable[int] = ()) -> int:
    """`os.fork`; the child has default signals, and not these descriptors.

    Python warns of a fork beside other threads. Here they are those of a numerical library that is made for forking;
    no Python code runs in them.
    """
    with _held_back(SIGNALS), warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
        if pid == 0:
            signal.set_wakeup_fd(-1)
            for number in SIGNALS:
                signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
            for descriptor in close:
                os.close(descriptor)
    return pid


@contextlib.contextmanager
def _held_back(numbers: Iterable[int]) -> Iterator[None]:
    """What comes meanwhile comes at the end: in a child that still had its parent's handlers it would be lost on it."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, numbers)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def end_with_parent(parent: int) -> None:
    """Have the system kill this process when its parent goes (Linux); a second line of defence, behind the warden."""
    _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def adopt_orphans() -> None:
    """Become the parent of descendants that lose theirs (Linux), so that none gets out of sight."""
    _prctl(PR_SET_CHILD_SUBREAPER, 1)


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(option, int(value), 0, 0, 0)


def redirect(stdout: Path, stderr: Path) -> None:
    """Standard output and error to the ends of these files; nothing to read."""
    for descriptor, path, flags in (
        (0, Path(os.devnull), os.O_RDONLY),
        (1, stdout, os.O_WRONLY | os.O_APPEND | os.O_CREAT),
        (2, stderr, os.O_WRONLY | os.O_APPEND | os.O_CREAT),
    ):
        opened = os.open(path, flags, 0o600)
        os.dup2(opened, descriptor)
        os.close(opened)
