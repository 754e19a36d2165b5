"""The compiler in a process of its own: the server stays free while it works, and what takes too long is ended."""

from __future__ import annotations

import asyncio
import contextlib
import json
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from nbddp.sentence import sentence

WORKER = Path(__file__).with_name("worker.py")
LIMIT = 20.0  # seconds for one notebook


class TookTooLong(Exception):
    """The notebook was given up; the text is a sentence."""


class Compiler:
    """One question at a time. The process starts with the first one and ends with the server, whose pipe it reads."""

    def __init__(self, limit: float = LIMIT) -> None:
        self._limit = limit
        self._turns = ThreadPoolExecutor(1, thread_name_prefix="nbddp-compiler")
        self._process: subprocess.Popen[bytes] | None = None

    async def ask(self, what: str, body: object) -> dict[str, Any]:
        """What `nbddp.server.answers` says."""
        line = json.dumps({"what": what, "body": body}).encode() + b"\n"
        return await asyncio.get_running_loop().run_in_executor(self._turns, self._ask, line)

    def close(self) -> None:
        """Nothing of it is left."""
        if (process := self._process) is not None:
            process.kill()
        self._turns.shutdown(cancel_futures=True)
        if process is not None:
            self._end(process)

    def _ask(self, line: bytes) -> dict[str, Any]:
        process = self._running()
        late = threading.Event()

        def give_up() -> None:
            late.set()
            process.kill()

        timer = threading.Timer(self._limit, give_up)
        timer.start()
        try:
            said = _exchange(process, line)
        finally:
            timer.cancel()
        if said:
            answer: dict[str, Any] = json.loads(said)
            return answer
        self._end(process)
        if late.is_set():
            limit = f"{self._limit:g}"
            raise TookTooLong(sentence("Analysing the notebook took more than %1 seconds and was stopped.", limit))
        raise TookTooLong(
            sentence("The process that analyses the notebook has ended: the notebook was too much for it.")
        )

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            command = [sys.executable, str(WORKER)]
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        return self._process

    def _end(self, process: subprocess.Popen[bytes]) -> None:
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            assert pipe is not None
            with contextlib.suppress(OSError):  # what was still to be written to it
                pipe.close()
        self._process = None


def _exchange(process: subprocess.Popen[bytes], line: bytes) -> bytes:
    """Nothing where the process has gone."""
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(line)
        process.stdin.flush()
        return process.stdout.readline()
    except OSError:
        return b""
