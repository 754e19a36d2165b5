"""With `--exact` it is no matter where batches come from: every model, and whatever a loop keeps, on four ranks."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from tests.spellings.judge import REPORTS, outcome
from tests.spellings.sources.batches import SOURCES
from tests.spellings.sources.habits import HABITS
from tests.spellings.sources.models import MODELS
from tests.spellings.sources.notebook import kept, trained

EACH = 9  # of so many, one is asked each time: all with `-m thorough`


def some(*tables: dict[str, tuple[str, ...]]) -> list[object]:
    pairs = [*product(*tables)]
    rest = pytest.mark.thorough
    return [pytest.param(*p, marks=() if at % EACH == 0 else rest, id="-".join(p)) for at, p in enumerate(pairs)]


@pytest.mark.parametrize(("source", "model"), some(SOURCES, MODELS))
def test_a_model(source: str, model: str, tmp_path: Path) -> None:
    found = outcome(trained(source, model), (4,), tmp_path, cell=2, rules=(*REPORTS, "loss"))
    assert found.verdict == "equal", found


@pytest.mark.parametrize(("source", "habit"), some(SOURCES, HABITS))
def test_a_habit(source: str, habit: str, tmp_path: Path) -> None:
    found = outcome(kept(source, habit), (4,), tmp_path, cell=2, rules=(*REPORTS, "loss"))
    assert found.verdict == "equal", found
