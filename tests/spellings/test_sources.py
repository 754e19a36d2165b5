"""With `--exact` it is no matter where batches come from: every model and training, and whatever a loop keeps."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from pathlib import Path

import pytest

from tests.spellings.judge import REPORTS, outcome
from tests.spellings.sources.batches import SOURCES
from tests.spellings.sources.habits import HABITS
from tests.spellings.sources.models import MODELS
from tests.spellings.sources.notebook import KINDS, inside, kept, of_kind, trained

EACH = 14  # of so many, one is asked each time: all with `-m thorough`
IN_ORDER = ("slices", "generator", "class", "full", "next", "list", "split")  # where a batch may be one sequence
ADDS_UP = ("full", "fgsm")  # gradients of the data, which the notebook never sets back


def some(*tables: Mapping[str, tuple[str, ...]], each: int = EACH) -> list[object]:
    pairs = [*product(*tables)]
    rest = pytest.mark.thorough
    return [pytest.param(*p, marks=() if at % each == 0 else rest, id="-".join(p)) for at, p in enumerate(pairs)]


@pytest.mark.parametrize(("source", "model"), some(SOURCES, MODELS))
def test_a_model(source: str, model: str, tmp_path: Path) -> None:
    found = outcome(trained(source, model), (4,), tmp_path, cell=2, rules=(*REPORTS, "loss"))
    assert found.verdict == "equal", found


@pytest.mark.parametrize(("source", "habit"), some(SOURCES, HABITS))
def test_a_habit(source: str, habit: str, tmp_path: Path) -> None:
    found = outcome(kept(source, habit), (4,), tmp_path, cell=2, rules=(*REPORTS, "loss"))
    assert found.verdict == "equal", found


@pytest.mark.parametrize(("source", "model"), some(SOURCES, MODELS, each=3 * EACH))
def test_a_loss_inside_of_a_model(source: str, model: str, tmp_path: Path) -> None:
    one_sequence = model == "contrast" and source in IN_ORDER
    found = outcome(inside(source, model), (3,), tmp_path, cell=2, rules=(*REPORTS, "loss"))
    assert found.verdict == ("refused" if one_sequence else "equal"), found


@pytest.mark.parametrize(("source", "kind"), some(SOURCES, KINDS, each=3 * EACH))
def test_a_kind_of_training(source: str, kind: str, tmp_path: Path) -> None:
    found = outcome(of_kind(source, kind), (3,), tmp_path, cell=2, rules=(*REPORTS, "loss"))
    assert (found.verdict == "equal") is not ((source, kind) == ADDS_UP), found
