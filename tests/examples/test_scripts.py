"""The scripts beside the examples are what comes out of them; `make examples` writes them anew."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import nbddp

EXAMPLES = Path(__file__).parents[2] / "examples"
NOTEBOOKS = sorted(EXAMPLES.glob("*.ipynb"))
STEMS = [path.stem for path in NOTEBOOKS]


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=STEMS)
def test_an_export_gives_the_script_beside_it(notebook: Path) -> None:
    written = notebook.with_name(f"{notebook.stem}_ddp.py").read_text(encoding="utf-8")
    assert nbddp.export(notebook).text == written, "`make examples` writes it anew; read what has changed"


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=STEMS)
def test_nothing_has_to_be_done_about_it(notebook: Path) -> None:
    assert {d.level for d in nbddp.export(notebook).diagnostics} <= {"note"}


def test_each_script_has_its_notebook() -> None:
    assert sorted(path.name for path in EXAMPLES.glob("*.py")) == [f"{stem}_ddp.py" for stem in STEMS]


# The cell's own lines stay: what the script itself does not read again, later cells of the notebook may.
CHECK = ["check", "--ignore", "RUF059"]


@pytest.mark.parametrize("command", [CHECK, ["format", "--check", "--diff", "--line-length", "120"]], ids=" ".join)
def test_ruff_has_nothing_to_say(command: list[str]) -> None:
    words = [sys.executable, "-m", "ruff", command[0], "--isolated", "--no-cache", *command[1:], str(EXAMPLES)]
    done = subprocess.run([*words, "--exclude", "*.ipynb"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
