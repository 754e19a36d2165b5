"""Making a forked process as fresh as a new interpreter: its environment, its folder, its random numbers."""

from __future__ import annotations

import multiprocessing.process
import os
import random
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from typing import Any


def adopt_environment(environ: Mapping[str, str], cwd: str) -> None:
    """These variables and this folder instead of the helper's, also where a library remembers the old ones."""
    os.environ.clear()
    os.environ.update(environ)
    os.chdir(cwd)
    time.tzset()
    tempfile.tempdir = None
    vars(multiprocessing.process)["ORIGINAL_DIR"] = cwd


def search_from(cwd: str, base: Sequence[str]) -> None:
    """The module path that `python script.py` has where the script lies in this folder."""
    sys.path[:] = [cwd, *base]


def fresh_randomness() -> None:
    """Draw what no other process has drawn, as a new interpreter does. A GPU's numbers start when it is first used."""
    random.seed()
    numpy_random: Any = sys.modules.get("numpy.random")
    if numpy_random is not None:
        numpy_random.seed()
    torch: Any = sys.modules.get("torch")
    if torch is not None:
        torch.default_generator.seed()
