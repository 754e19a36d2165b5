"""`import nbddp` is instant: a kernel runs it at %load_ext, and an editor at each export."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
HEAVY = [
    "torch",
    "numpy",
    "IPython",
    "ipykernel",
    "ipywidgets",
    "anywidget",
    "nbconvert",
    "nbformat",
    "rich",
    "asyncio",
]
CODE = """
import json, sys, time
start = time.process_time()
import nbddp
spent = time.process_time() - start
print(json.dumps([spent, sorted(sys.modules)]))
"""


def imported() -> tuple[float, set[str]]:
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True, cwd=ROOT)
    spent, modules = json.loads(done.stdout)
    return spent, set(modules)


def test_nothing_heavy_comes_along():
    assert not imported()[1] & set(HEAVY)


def test_it_takes_less_than_150_ms():
    """Of processor time, at best of five: what other processes of the machine do is not measured."""
    imported()  # writes the byte code
    assert min(imported()[0] for _ in range(5)) < 0.15


def test_help_needs_no_more_than_the_package():
    code = "import sys; from nbddp.cli import main; main(['--help']); print(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert not set(done.stdout.splitlines()[-1].split()) & set(HEAVY)
