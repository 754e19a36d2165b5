"""A process that nbddp ends is not told of as one that its script has ended by `os._exit`."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import atexit, os
from nbddp.run.watching.leaving import leave

os._exit = lambda status: print("told of", status, flush=True)
atexit.register(print, "at the end")
leave(3)
"""


def test_it_ends_without_a_word_of_an_exit():
    ended = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=60, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (3, "at the end\n", "")
