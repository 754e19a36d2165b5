"""The script's main process in a warm start: the same script, with `mp.spawn` asking the supervisor for its ranks."""

from __future__ import annotations

import argparse
import importlib
import io
import marshal
import multiprocessing.context
import os
import pickle
import socket
import sys
from collections.abc import Callable, Sequence
from multiprocessing import connection, popen_forkserver, process, reduction, spawn, util
from typing import Any, NoReturn

from nbddp.run.processes import inside
from nbddp.run.processes.at_import import THREADS, changed_between, fewer_threads
from nbddp.run.processes.fresh import fresh_randomness
from nbddp.run.start.warm_ranks import NUMBER, exactly
from nbddp.run.watching.start import COMPILED

METHOD = "nbddp-warm"
HASHES = "PYTHONHASHSEED"  # forked processes hash alike anyway
PLAIN = (str, bytes, int, float, complex, bool, type(None), os.PathLike)


def become_script(arguments: Sequence[str], ranks: socket.socket) -> NoReturn:
    """Run the script as its interpreter would, to the end of the process."""
    sys.argv = list(arguments)
    fresh_randomness()
    inside.answer_for_stacks()
    inside.let_spawned_answer()
    ask_for_ranks(ranks)
    inside.run_to_the_end(arguments[0])


def ask_for_ranks(ranks: socket.socket) -> None:
    """Replace `torch.multiprocessing.spawn`, where the work is such that a forked rank cannot tell the difference."""
    mp: Any = importlib.import_module("torch.multiprocessing")
    spawned, before = mp.spawn, dict(os.environ)
    threads: int = sys.modules["torch"].get_num_threads()

    def spawn_warm(fn: Callable[..., object], args: tuple[object, ...] = (), *rest: Any, **options: Any) -> object:
        changed = set(changed_between(before, os.environ))
        known = {HASHES} | ({THREADS} if fewer_threads(before, threads) else set())
        if changed - known or not plain(args) or len(rest) > 3 or options.get("start_method", "spawn") != "spawn":
            return spawned(fn, args, *rest, **options)
        return mp.start_processes(fn, args, *rest, **{**options, "start_method": METHOD})

    RankPopen.ranks = ranks
    multiprocessing.context._concrete_contexts[METHOD] = WarmContext()  # type: ignore[attr-defined]  # noqa: SLF001
    mp.spawn = spawn_warm


def plain(value: object) -> bool:
    """Whether a value travels by pickle alone. Tensors, queues and locks are shared with a child: those are spawned."""
    if isinstance(value, dict):
        return all(plain(key) and plain(item) for key, item in value.items())
    if isinstance(value, argparse.Namespace):
        return plain(vars(value))
    if isinstance(value, (list, tuple, set, frozenset)):
        return all(plain(item) for item in value)
    return isinstance(value, PLAIN)


class RankPopen(popen_forkserver.Popen):
    """Asks the supervisor, where the standard library asks its fork server."""

    ranks: socket.socket

    def _launch(self, process_obj: Any) -> None:
        work = self._work(process_obj)
        reads, writes = os.pipe()
        self.sentinel, status = os.pipe()
        socket.send_fds(self.ranks, [b"rank"], [reads, 1, 2, status])
        os.close(reads)
        os.close(status)
        kept = os.dup(writes)  # open as long as this process lives: by its end the rank sees that it has gone
        self.finalizer = util.Finalize(self, util.close_fds, (kept, self.sentinel))  # type: ignore[attr-defined]
        with open(writes, "wb") as file:  # noqa: PTH123 -- a descriptor has no path
            file.write(work)
        self.pid = NUMBER.unpack(exactly(self.sentinel, NUMBER.size))[0]

    def poll(self, flag: int = os.WNOHANG) -> int | None:
        """As the standard library does; but where the supervisor has gone, who alone knows, nothing is left to do."""
        if self.returncode is None and connection.wait([self.sentinel], 0 if flag == os.WNOHANG else None):
            try:
                self.returncode = NUMBER.unpack(exactly(self.sentinel, NUMBER.size))[0]
            except EOFError:
                os._exit(1)
        return self.returncode

    def _work(self, process_obj: Any) -> bytes:
        """Environment, folder and compiled script, then what `spawn` sends: how to prepare, and what to run."""
        surroundings = pickle.dumps((dict(os.environ), os.getcwd(), marshal.dumps(COMPILED)))  # noqa: PTH109 -- as text
        buffer = io.BytesIO()
        multiprocessing.context.set_spawning_popen(self)
        try:
            reduction.dump(spawn.get_preparation_data(process_obj.name), buffer)
            reduction.dump(process_obj, buffer)
        finally:
            multiprocessing.context.set_spawning_popen(None)
        return NUMBER.pack(len(surroundings)) + surroundings + buffer.getvalue()


class SpawnProcess(process.BaseProcess):
    """What a spawned process is, to its very name, as far as its own code can see."""

    _start_method = "spawn"

    @staticmethod
    def _Popen(process_obj: Any) -> RankPopen:  # noqa: N802 -- the name that multiprocessing calls
        return RankPopen(process_obj)


class WarmContext(multiprocessing.context.BaseContext):
    """Makes `start_processes(..., start_method=METHOD)` start such processes."""

    _name = METHOD
    Process = SpawnProcess
