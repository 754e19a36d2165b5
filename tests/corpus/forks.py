"""The driver's end of warm.py: one run at a time, with a limit, that leaves no process behind."""

from __future__ import annotations

import functools
import json
import os
import select
import subprocess
import sys
from pathlib import Path
from typing import IO

from tests.e2e.process import end_group, environment

WARM = Path(__file__).with_name("warm.py")
Variables = tuple[tuple[str, str], ...]


@functools.cache
def warm(variables: Variables) -> tuple[IO[bytes], IO[bytes]]:
    """Its input and output. One for each setting; it ends when its input does, with this process."""
    own = environment(dict(variables) | {"CORPUS_RECORD": os.devnull})
    pipe = subprocess.PIPE
    server = subprocess.Popen([sys.executable, str(WARM)], env=own, stdin=pipe, stdout=pipe, bufsize=0)
    assert server.stdin is not None
    assert server.stdout is not None
    return server.stdin, server.stdout


def run(
    command: list[str], folder: Path, logs: Path, seconds: float, shared: Variables, own: dict[str, str]
) -> tuple[str, str]:
    """What it printed, and how it failed; nothing where it did not. `shared` are variables that all runs have."""
    orders, answers = warm(shared)
    out, err = logs / "stdout.txt", logs / "stderr.txt"
    order = {"command": command, "folder": str(folder), "stdout": str(out), "stderr": str(err)}
    orders.write(json.dumps(order | {"environment": environment(dict(shared) | own)}).encode() + b"\n")
    pid = int(answers.readline())
    ended = bool(select.select([answers], [], [], seconds)[0])
    status = answers.readline().strip().decode() if ended else f"still running after {seconds:.0f} s"
    left = end_group(pid, ended=ended)
    if not ended:
        answers.readline()
    printed, said = out.read_text(errors="replace"), err.read_text(errors="replace")
    if status == "0" and not left:
        return printed, ""
    problem = f"status {status}" + (f", left processes {left} behind" if left else "")
    return printed, f"{command}\n{problem}\n{printed[-3000:]}\n{said[-6000:]}"
