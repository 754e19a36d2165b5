"""Ranks of a warm start, the supervisor's end: it forks them when the script asks.

A script calls `mp.spawn` from its own main process, which by then has run the script's first lines and may hold locks
and threads. So it is not that process which is forked but the supervisor, which has imported torch and done nothing
since. Everything else is what spawning does: the script is run again as `__mp_main__`, the function and its arguments
travel pickled, and torch's own code waits for the ranks and raises its own exceptions.
"""

from __future__ import annotations

import contextlib
import marshal
import os
import pickle
import socket
import struct
import sys
import traceback
from collections.abc import Iterable, Mapping, Sequence
from multiprocessing import spawn
from typing import Any, NoReturn

from nbddp.run.processes.at_import import fewer_threads
from nbddp.run.processes.fork import fork
from nbddp.run.processes.fresh import adopt_environment, fresh_randomness
from nbddp.run.processes.inside import answer_for_stacks
from nbddp.run.watching.start import COMPILED, enter_spawned

NUMBER = struct.Struct("q")
GIVEN = 3  # descriptors that a rank gets: its work, and the script's standard output and error


class Ranks:
    """Has a rank for each request, forked then or before, and tells the script how it ended."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self.environ = environ  # as it was when torch was imported
        self.socket, self.script_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.asked = True
        self.ahead: dict[int, socket.socket] = {}  # a process's number -> where it waits to become a rank
        self.waiting: dict[int, int] = {}  # a rank's number -> where the script waits to hear of its end

    def fork_ahead(self, private: Iterable[int]) -> None:
        """Fork a process that waits to become a rank."""
        ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        pid = fork(close={*private, *self.private(), ours.fileno()})
        if pid == 0:
            _wait_for_work(its, self.environ)
        its.close()
        self.ahead[pid] = ours

    def dismiss(self) -> None:
        """Let go those that nobody has asked for."""
        while self.ahead:
            pid, end = self.ahead.popitem()
            end.close()
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, 0)

    def watched(self) -> list[int]:
        """What becomes readable when the script asks."""
        return [self.socket.fileno()] if self.asked else []

    def private(self) -> list[int]:
        """What a child of the supervisor has no use for."""
        return [self.socket.fileno(), *self.waiting.values(), *(end.fileno() for end in self.ahead.values())]

    def answer(self, private: Iterable[int]) -> None:
        """One request comes with descriptors: to read the work from, the output, to tell number and status.

        The rank gets none of the supervisor's descriptors: with one of them it would hide the supervisor's end.
        """
        _, descriptors, _, _ = socket.recv_fds(self.socket, 16, GIVEN + 1)
        if len(descriptors) <= GIVEN:
            self.asked = False  # the script's main process has ended
            return
        *given, status = descriptors
        pid = self._put_to_work(given, [*private, status])
        for descriptor in given:
            os.close(descriptor)
        self.waiting[pid] = status
        _tell(status, pid)

    def _put_to_work(self, given: Sequence[int], private: Iterable[int]) -> int:
        """The number of one that was forked ahead and nobody has killed meanwhile, else of a new one."""
        while True:
            if not self.ahead:
                self.fork_ahead(private)
            pid, end = self.ahead.popitem()
            with end, contextlib.suppress(BrokenPipeError):
                socket.send_fds(end, [b"work"], given)
                return pid

    def reaped(self, pid: int, status: int) -> None:
        """A child of the supervisor has ended; where it was a rank, the script is waiting to hear."""
        if pid in self.ahead:
            self.ahead.pop(pid).close()
        if pid in self.waiting:
            descriptor = self.waiting.pop(pid)
            _tell(descriptor, status)
            os.close(descriptor)


def _tell(descriptor: int, number: int) -> None:
    with contextlib.suppress(BrokenPipeError):  # the script has ended before
        os.write(descriptor, NUMBER.pack(number))


def _wait_for_work(orders: socket.socket, environ: Mapping[str, str]) -> NoReturn:
    """In a process forked for it, until it gets some, or nobody can send any."""
    try:
        _, descriptors, _, _ = socket.recv_fds(orders, 16, GIVEN)
        orders.close()
        if descriptors:
            _become_rank(descriptors, environ)
    finally:
        os._exit(0)


def _become_rank(descriptors: Sequence[int], before: Mapping[str, str]) -> NoReturn:
    """As a spawned process would: its main process's environment, the script run again, then the function."""
    torch: Any = sys.modules["torch"]
    code = 1
    try:
        work, *output = descriptors
        for number, descriptor in enumerate(output, start=1):
            os.dup2(descriptor, number)
            os.close(descriptor)
        environ, cwd, compiled = pickle.loads(exactly(work, NUMBER.unpack(exactly(work, NUMBER.size))[0]))
        adopt_environment(environ, cwd)
        COMPILED.update(marshal.loads(compiled))
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
