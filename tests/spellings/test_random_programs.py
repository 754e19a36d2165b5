"""Random programs print on several ranks what one process prints, or have their report: nothing third."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings

from tests.spellings.judge import outcome
from tests.spellings.program import by_slices
from tests.spellings.random_programs import programs
from tests.spellings.random_things import programs as programs_with_things
from tests.spellings.random_trainings import programs as trainings
from tests.spellings.simulated.runs import by_itself

PIECE = 250  # programs of one test: a few minutes beside other work
PIECES = range(max(1, int(os.environ.get("NBDDP_PROGRAMS", "1500")) // PIECE))
BOUNDED = settings(
    max_examples=60,
    deadline=None,
    derandomize=True,  # the same programs each time
    database=None,
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def thorough(test: Callable[..., None]) -> Callable[..., None]:
    """Other programs each time, and the smallest that fails."""
    many = settings(BOUNDED, max_examples=PIECE, derandomize=False, phases=[Phase.generate, Phase.shrink])
    return pytest.mark.thorough(pytest.mark.parametrize("piece", PIECES)(many(test)))


def holds(text: str, worlds: tuple[int, ...], cell: int = 2) -> None:
    with tempfile.TemporaryDirectory() as folder:
        found = outcome(text, worlds, Path(folder), cell)
    assert found.verdict != "WRONG", f"{text}\n{found.why}"


def runs(text: str) -> bool:
    """As a notebook: what is drawn may not go together."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            by_itself(text, Path(folder) / "notebook")
        except Exception:  # noqa: BLE001 -- whatever it is
            return False
    return True


@BOUNDED
@given(programs())
def test_equal_or_reported(text: str) -> None:
    holds(text, (2,))


@settings(BOUNDED, max_examples=15)
@given(programs())
def test_equal_or_reported_over_batches_that_are_split(text: str) -> None:
    holds(by_slices(text), (3,))


@settings(BOUNDED, max_examples=30)
@given(programs_with_things())
def test_things_of_all_kinds_equal_or_reported(text: str) -> None:
    assume(runs(text))
    holds(text, (2,))


@settings(BOUNDED, max_examples=30)
@given(trainings())
def test_whole_trainings_equal_or_reported(text: str) -> None:
    assume(runs(text))
    holds(text, (2,), cell=1)


@thorough
@given(text=programs())
def test_many_equal_or_reported(piece: int, text: str) -> None:
    holds(text, (1, 2, 3))
    holds(by_slices(text), (1, 2, 3))


@thorough
@given(text=programs_with_things())
def test_many_things_equal_or_reported(piece: int, text: str) -> None:
    assume(runs(text))
    holds(text, (2, 3))


@thorough
@given(text=trainings())
def test_many_whole_trainings_equal_or_reported(piece: int, text: str) -> None:
    assume(runs(text))
    holds(text, (1, 2, 3), cell=1)
