"""Where the lines of exported scripts go: `PYTHONPATH=. python tools/budget.py [NOTEBOOK …]`.

Without arguments, of all examples and of all notebooks that the tests train.
"""

from __future__ import annotations

import re
import statistics
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from nbddp.diagnostics import CannotExport
from nbddp.export import Script, export

ROOT = Path(__file__).parents[1]
TITLE = re.compile(r"\s*# ── (?P<text>.+?) ─+$")
COLUMNS = ("user", "edits", "head", "helpers", "watching", "processes", "total", "limit")
OWN = {"what several processes need": "helpers", "the processes": "processes"}


@dataclass(frozen=True)
class Budget:
    """The lines of one script, counted by what they are there for; blank lines count in the total alone."""

    user: int  # of the notebook
    edits: int  # beside them in the body: what rules have added
    head: int  # docstring and imports
    helpers: int  # copied functions that the training needs
    watching: int
    processes: int
    total: int

    @property
    def limit(self) -> int:
        return int(1.6 * self.user + 90)


def budget(script: Script) -> Budget:
    lines = script.text.splitlines()
    found: Counter[str] = Counter()
    part = "head"
    for text, origin in zip(lines, script.line_map, strict=False):
        if title := TITLE.match(text):
            part = "body" if title["text"].startswith("cell") else OWN.get(title["text"], "watching")
        elif origin is None and re.match(r"def run\w*\(rank", text):
            part = "processes"
        elif origin is None and re.match(r"def |class ", text) and part in ("head", "body"):
            part = "body"
        if text.strip():
            found["user" if origin is not None else part] += 1
    return Budget(found["user"], found["body"], found["head"], found["helpers"], found["watching"],
                  found["processes"], len(lines))  # fmt: skip


def notebooks() -> Iterator[Path]:
    yield from sorted((ROOT / "examples").glob("*.ipynb"))
    yield from sorted((ROOT / "tests" / "e2e" / "notebooks").glob("*.py"))


def main(paths: list[Path]) -> None:
    print(f"{'':34}", *(f"{name:>9}" for name in COLUMNS))
    totals, helpers = [], []
    for path in paths or notebooks():
        try:
            found = budget(export(path))
        except CannotExport:
            continue
        totals.append(found.total)
        helpers.append(found.helpers)
        over = "  over" if found.total > found.limit else ""
        print(f"{path.stem:34}", *(f"{getattr(found, name):9}" for name in COLUMNS), over, sep=" ")
    print(f"{len(totals)} scripts: median {statistics.median(totals):.0f} lines, "
          f"helpers median {statistics.median(helpers):.0f}, at most {max(helpers)}")  # fmt: skip


if __name__ == "__main__":
    main([Path(argument) for argument in sys.argv[1:]])
