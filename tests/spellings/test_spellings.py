"""Every spelling prints on two and three ranks what one process prints, or has its report; the table says which."""

from __future__ import annotations

from pathlib import Path

import pytest

import nbddp
from nbddp.notebook import notebook_from_percent
from tests.e2e.runner import run_script
from tests.spellings.judge import alike, outcome
from tests.spellings.kept import KEPT, Kept
from tests.spellings.program import NUMBERS, Spelling, by_slices, every
from tests.spellings.shown import SHOWN, Show
from tests.spellings.simulated.runs import by_itself
from tests.spellings.table import DOCUMENT, SHOWN_WITH, rows, written

PRINT = SHOWN[0]
REAL = ("a name", "a meter", "a tuple made anew", "a dict of lists")


def holds(spelling: Spelling, worlds: tuple[int, ...], folder: Path) -> str:
    found = outcome(spelling.notebook(), worlds, folder, cell=2)
    assert found.verdict != "WRONG", found.why
    return written(found)


@pytest.mark.parametrize("kept", KEPT, ids=lambda kept: kept.title)
def test_of_a_number_that_is_kept_so(kept: Kept, tmp_path: Path) -> None:
    """One of the numbers on two or three ranks, by turns; all of them in `make test-all`."""
    at = KEPT.index(kept)
    place, world = at % len(NUMBERS), 2 + at // 2 % 2
    spelling = Spelling(NUMBERS[place], kept, PRINT)
    assert rows()["kept"][kept.title][place] == holds(spelling, (world,), tmp_path / str(world))


@pytest.mark.parametrize("shown", SHOWN, ids=lambda shown: shown.title)
def test_of_a_number_that_is_shown_so(shown: Show, tmp_path: Path) -> None:
    for place, (number, kept) in enumerate(SHOWN_WITH):
        spelling = Spelling(number, kept, shown)
        if spelling.possible and not kept.title.startswith("a file"):
            world = 2 + (SHOWN.index(shown) + place) % 2
            assert rows()["shown"][shown.title][place] == holds(spelling, (world,), tmp_path / str(place))


@pytest.mark.parametrize("kept", KEPT, ids=lambda kept: kept.title)
def test_of_a_number_over_batches_that_are_split(kept: Kept, tmp_path: Path) -> None:
    at = KEPT.index(kept)
    spelling = Spelling(NUMBERS[at % 2], kept, PRINT)
    found = outcome(by_slices(spelling.notebook()), (2 + at // 2 % 2,), tmp_path, cell=2)
    assert found.verdict in ("equal", "reported"), found.why


@pytest.mark.thorough
@pytest.mark.parametrize("number", NUMBERS, ids=lambda number: number.title)
@pytest.mark.parametrize("shown", SHOWN, ids=lambda shown: shown.title)
def test_of_all_that_go_together(number: object, shown: Show, tmp_path: Path) -> None:
    spellings = [s for s in every() if s.number is number and s.shown is shown]
    for place, spelling in enumerate(spellings):
        holds(spelling, (1, 2, 3), tmp_path / str(place))


@pytest.mark.parametrize("title", REAL)
def test_on_real_processes(title: str, tmp_path: Path) -> None:
    """The simulated ranks stand for these."""
    kept = next(k for k in KEPT if k.title == title)
    text = Spelling(NUMBERS[0], kept, PRINT).notebook()
    script = nbddp.export(notebook_from_percent(text, "spelling.py"))
    printed = run_script(script.text, "spelling_ddp.py", 2, forked=True).lines
    assert alike("\n".join(printed) + "\n", by_itself(text, tmp_path).printed)


def test_the_table_has_all_of_them() -> None:
    assert list(rows()["kept"]) == [kept.title for kept in KEPT]
    assert list(rows()["shown"]) == [shown.title for shown in SHOWN]
    assert len(KEPT) + len(SHOWN) >= 60
    assert DOCUMENT.read_text(encoding="utf-8").count("|\n") > len(KEPT) + len(SHOWN)
