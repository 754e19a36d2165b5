"""A warm start, as the kernel sees it: a helper that is asked to start a run, or says why not."""

from __future__ import annotations

import contextlib
import json
import os
import select
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from nbddp.run.folder.errors import NotWarm
from nbddp.run.folder.folder import RunFolder
from nbddp.run.processes.interrupts import breakable
from nbddp.run.start.command import Command
from nbddp.run.start.messages import Channel

# What a script with DistributedDataParallel loads before its first step; the last one is most of that time, and comes
# only with the first call.
PRELOAD = (
    "numpy",
    "torch",
    "torch.distributed",
    "torch.multiprocessing",
    "torch.nn.parallel",
    "torch.utils.data",
    "torch.utils.serialization",
    "torch.profiler._cupti_monitor",  # asked for by the first batch of a DataLoader; not in every version
    "torch._dynamo",
)
ROOT = Path(__file__).resolve().parents[3]
BOOT = """\
import json, sys
if sys.path[:1] == [""]:
    del sys.path[0]
base = list(sys.path)
sys.path.append(sys.argv[1])
from nbddp.run.start.warm_server import main
sys.path[:] = base
main(int(sys.argv[2]), json.loads(sys.argv[3]), json.loads(sys.argv[4]))
"""
WITHIN = 20.0  # seconds from asking to the run's start; a helper that has just started is still importing torch
GONE = "The helper process had ended; a new one has been started for the next run."
SLOW = "The helper process did not answer in time; a new one has been started for the next run."


class WarmHelper:
    """A process that belongs to this one. It may be asked at any time: while it still imports, it answers later."""

    def __init__(self, preload: Sequence[str] = PRELOAD) -> None:
        self.preload = list(preload)
        self.owner = os.getpid()
        self.lock = threading.Lock()
        self.process, self.channel = _begin(self.preload)
        self.is_ready = False

    @classmethod
    def start(cls, preload: Sequence[str] = PRELOAD) -> WarmHelper:
        """Start one in the background; NotWarm where forking is not safe."""
        if sys.platform != "linux":
            raise NotWarm("A warm start needs Linux: elsewhere a process that has loaded torch is not safe to fork.")
        return cls(preload)

    def load(self, names: Sequence[str]) -> None:
        """Have it import these packages too, in the background; what is no installed package it leaves alone."""
        new = [name for name in names if name not in self.preload]
        with self.lock, contextlib.suppress(OSError):
            self.preload += new
            self.channel.send({"load": new})

    def launch(self, folder: RunFolder, command: Command, within: float = WITHIN) -> None:
        """Have it start this run, or NotWarm with the reason; then no run was started."""
        if command.python != sys.executable:
            raise NotWarm(f"The run uses a different Python ({command.python}) than this kernel.")
        message = {"folder": str(folder.path), "cwd": command.cwd, "environ": dict(command.environment)}
        with self.lock:
            try:
                answer = breakable(lambda: self._ask(message, time.monotonic() + within))
            except BaseException:
                self._replace()  # interrupted within a message, or too slow: this channel is of no use any more
                raise
            if answer is None:
                self._replace()
                raise NotWarm(GONE)
            why = str(answer.get("cold", ""))
            if answer.get("stale"):
                self._replace()
            if why:
                raise NotWarm(why)

    def _ask(self, message: Mapping[str, Any], until: float) -> dict[str, Any] | None:
        """Its answer, or None where it is gone."""
        try:
            self.channel.send(message)
            while True:
                self._listen(until)
                self.channel.socket.settimeout(max(0.01, until - time.monotonic()))
                answer = self.channel.receive()
                if answer is None or "ready" not in answer:
                    return answer
                self.is_ready = True
        except TimeoutError:
            raise NotWarm(SLOW) from None
        except OSError:
            return None

    def _listen(self, until: float) -> None:
        """In turns: an interrupt that comes right before a wait begins is seen only when the wait has ended."""
        while not select.select([self.channel.fileno()], [], [], 0.25)[0] and time.monotonic() < until:
            pass

    def wait_until_ready(self, within: float = WITHIN) -> bool:
        """Whether it has imported everything and waits for work."""
        with self.lock:
            if not self.is_ready and select.select([self.channel.fileno()], [], [], within)[0]:
                answer = self.channel.receive()
                self.is_ready = answer is not None and "ready" in answer
            return self.is_ready

    def _replace(self) -> None:
        self._end()
        self.process, self.channel = _begin(self.preload)
        self.is_ready = False

    def _end(self) -> None:
        self.channel.close()
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()

    def close(self) -> None:
        """End it; runs that it started go on. A process forked from the kernel leaves its parent's helper alone."""
        if os.getpid() == self.owner:
            with self.lock:
                self._end()


def _begin(preload: Sequence[str]) -> tuple[subprocess.Popen[bytes], Channel]:
    ours, its = socket.socketpair()
    words = [sys.executable, "-X", "faulthandler", "-c", BOOT, str(ROOT), str(its.fileno()), json.dumps(preload), "{}"]
    with its:
        process = subprocess.Popen(
            words,
            pass_fds=[its.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # an interrupt of the kernel is none of its business
        )
    return process, Channel(ours)
