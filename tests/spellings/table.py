"""The table of all spellings in the documentation: `python -m tests.spellings` writes it, the tests read it."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.spellings.judge import Outcome, outcome
from tests.spellings.kept import KEPT
from tests.spellings.program import NUMBERS, Spelling
from tests.spellings.shown import SHOWN

DOCUMENT = Path(__file__).parents[2] / "docs" / "spellings.md"
SHOWN_WITH = [
    (number, kept) for number, kept in zip(NUMBERS, (k for k in KEPT if k.title in (
        "a name", "a meter", "an alias of append", "a list", "a moving average")), strict=True)
]  # fmt: skip
HEAD = """# How numbers may be written

A training keeps a number of each batch (its loss, how many were right), and shows it. This is one program in {count}
spellings: each line of the first table keeps the number in another way and prints it, each line of the second shows it
in another way. `equal`: the script shows on any number of processes what the notebook shows. `whole`: so it does, and a
note says that each process evaluates all of the data. `reported`: a note at that line says that the number may be rank
0's. There is nothing else: a number that is another one without a report would fail the tests.

Written by `python -m tests.spellings`, from what `tests/spellings` finds.
"""


def written(found: Outcome) -> str:
    """By the report, not by whether the numbers of these ranks happen to be alike."""
    if found.verdict in ("refused", "WRONG"):
        return found.verdict
    return {"": "equal", "evaluation": "whole"}.get(found.rule, "reported")


def document() -> str:
    kept = [(k.title, [_verdict(Spelling(n, k, SHOWN[0])) for n in NUMBERS]) for k in KEPT]
    shown = [(s.title, [_verdict(Spelling(n, k, s)) for n, k in SHOWN_WITH]) for s in SHOWN]
    numbers = [n.title for n in NUMBERS]
    beside = [f"{k.title}: {n.title}" for n, k in SHOWN_WITH]
    return "\n".join([
        HEAD.format(count=len(KEPT) * len(NUMBERS) + len(SHOWN) * len(SHOWN_WITH)),
        "## Kept\n", *_lines("kept as", numbers, kept), "\n## Shown\n", *_lines("shown by", beside, shown), "",
    ])  # fmt: skip


def _verdict(spelling: Spelling) -> str:
    if not spelling.possible:
        return "–"
    with tempfile.TemporaryDirectory() as folder:
        return written(outcome(spelling.notebook(), (2, 3), Path(folder), cell=2))


def _lines(first: str, heads: list[str], lines: list[tuple[str, list[str]]]) -> Iterator[str]:
    yield f"| {first} | {' | '.join(heads)} |"
    yield "|---" * (len(heads) + 1) + "|"
    for title, cells in lines:
        yield f"| {title} | {' | '.join(cells)} |"


@cache
def rows() -> dict[str, dict[str, list[str]]]:
    """What the document says, by its two tables."""
    found: dict[str, dict[str, list[str]]] = {}
    for part in DOCUMENT.read_text(encoding="utf-8").split("\n## ")[1:]:
        lines = [line.strip("|").split(" | ") for line in part.split("\n") if line.startswith("| ")][1:]
        found[part.split("\n")[0].lower()] = {title.strip(): [c.strip() for c in cells] for title, *cells in lines}
    return found
