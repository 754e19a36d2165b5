"""Ranks of a warm start, the supervisor's end: it forks them when the script asks.

A script calls `mp.spawn` from its own main process, which by then has run the script's first lines and may hold locks
and threads. So it is not that process which is forked but the supervisor, which has imported torch and done nothing
since. Everything else is what spawning does: the script is run again as `__mp_main__`, the function and its arguments
travel pickled, and torch's own code waits for the ranks and raises its own exceptions.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import socket
import struct
import sys
import traceback
from collections.abc import Iterable, Mapping
from multiprocessing import spawn
from typing import Any, NoReturn

from nbddp.run.folder.folder import RunFolder
from nbddp.run.processes.at_import import fewer_threads
from nbddp.run.processes.fork import fork, redirect
from nbddp.run.processes.fresh import adopt_environment, fresh_randomness
from nbddp.run.processes.inside import answer_for_stacks
from nbddp.run.watching.start import enter_spawned

NUMBER = struct.Struct("q")


class Ranks:
    """Forks a rank for each request, and tells the script how it ended."""

    def __init__(self, folder: RunFolder) -> None:
        self.folder = folder
        self.environ = dict(os.environ)
        self.socket, self.script_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.asked = True
        self.waiting: dict[int, int] = {}  # a rank's number -> where the script waits to hear of its end

    def watched(self) -> list[int]:
        """What becomes readable when the script asks."""
        return [self.socket.fileno()] if self.asked else []

    def private(self) -> list[int]:
        """What a child of the supervisor has no use for."""
        return [self.socket.fileno(), *self.waiting.values()]

    def answer(self, private: Iterable[int]) -> None:
        """One request comes with two descriptors: to read the work from, and to tell number and status.

        The rank gets none of the supervisor's descriptors: with one of them it would hide the supervisor's end.
        """
        _, descriptors, _, _ = socket.recv_fds(self.socket, 16, 2)
        if len(descriptors) != 2:
            self.asked = False  # the script's main process has ended
            return
        work, status = descriptors
        pid = fork(close=[*private, status])
        if pid == 0:
            _become_rank(self.folder, work, self.environ)
        os.close(work)
        self.waiting[pid] = status
        _tell(status, pid)

    def reaped(self, pid: int, status: int) -> None:
        """A child of the supervisor has ended; where it was a rank, the script is waiting to hear."""
        if pid in self.waiting:
            descriptor = self.waiting.pop(pid)
            _tell(descriptor, status)
            os.close(descriptor)


def _tell(descriptor: int, number: int) -> None:
    with contextlib.suppress(BrokenPipeError):  # the script has ended before
        os.write(descriptor, NUMBER.pack(number))


def _become_rank(folder: RunFolder, work: int, before: Mapping[str, str]) -> NoReturn:
    """As a spawned process would: its main process's environment, the script run again, then the function."""
    torch: Any = sys.modules["torch"]
    code = 1
    try:
        redirect(folder.stdout, folder.stderr)
        adopt_environment(*pickle.loads(exactly(work, NUMBER.unpack(exactly(work, NUMBER.size))[0])))
        if threads := fewer_threads(before, torch.get_num_threads()):
            torch.set_num_threads(threads)
        fresh_randomness()
        answer_for_stacks()
        enter_spawned()
        code = spawn._main(work, os.dup(work))  # noqa: SLF001 -- as fork servers do
    except BaseException:  # noqa: BLE001 -- nothing may get out of a forked process into its parent's code
        traceback.print_exc()
    finally:
        with contextlib.suppress(OSError, ValueError):
            sys.stdout.flush()
        with contextlib.suppress(OSError, ValueError):
            sys.stderr.flush()
        os._exit(code)


def exactly(descriptor: int, size: int) -> bytes:
    """So many bytes and none of those behind them, which are another's to read."""
    data = b""
    while len(data) < size:
        more = os.read(descriptor, size - len(data))
        if not more:
            raise EOFError("the script's main process has ended")
        data += more
    return data
