"""Same cells, same bytes: whatever the hash seed, and wherever in memory the syntax trees lie."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NOTEBOOKS = ROOT / "tests" / "e2e" / "notebooks"
SEEDS = ("1", "2")
PARTS = 3  # of the notebooks, so that the processes of the test run share them

# What an export and a check say, behind garbage that moves every later object to another address.
CODE = """
import ast, hashlib, sys
import nbddp

garbage = [ast.parse("x + y * z") for _ in range(37 * int(sys.argv[1]))]
for path in sys.argv[2:]:
    try:
        script = nbddp.export(path)
        said = script.text, script.diagnostics, script.line_map, nbddp.check(path)
    except nbddp.CannotExport as refused:
        said = refused.diagnostics
    print(path, hashlib.sha256(repr(said).encode()).hexdigest())
"""


def exports(seed: str, notebooks: list[Path]) -> list[str]:
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    command = [sys.executable, "-c", CODE, seed, *map(str, notebooks)]
    done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


@pytest.mark.parametrize("part", [0, *(pytest.param(part, marks=pytest.mark.thorough) for part in range(1, PARTS))])
def test_every_process_gives_the_same_bytes(part):
    notebooks = sorted(NOTEBOOKS.glob("*.py"))[part :: 2 * PARTS]
    assert len(notebooks) > 5
    first, other = [exports(seed, notebooks) for seed in SEEDS]
    assert len(first) == len(notebooks)
    assert other == first
