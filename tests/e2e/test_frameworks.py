"""Notebooks that leave the training to a framework: their scripts on one process and on two agree, and both report."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from .compare import unequal
from .expectation import HERE
from .outcome import NUMBER, Outcome
from .runner import run_notebook

NOTEBOOKS = sorted((HERE / "frameworks").glob("*.py"))
STEMS = [path.stem for path in NOTEBOOKS]


@cache
def outcome(notebook: Path, nproc: int) -> Outcome:
    return run_notebook(notebook, nproc)


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=STEMS)
def test_two_processes_train_as_one(notebook: Path) -> None:
    one, two = outcome(notebook, 1), outcome(notebook, 2)
    assert (one.ranks, two.ranks) == (1, 2)
    assert one.states.keys() == two.states.keys()
    for name in one.states:
        assert unequal(one.states[name], two.states[name], rtol=1e-4, atol=1e-5) == []
    assert one.files.keys() == two.files.keys()


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=STEMS)
def test_they_print_the_same(notebook: Path) -> None:
    printed = [[line for line in outcome(notebook, n).lines if line.startswith("epoch ")] for n in (1, 2)]
    one, two = ([float(number) for line in lines for number in NUMBER.findall(line)] for lines in printed)
    assert one
    assert two == pytest.approx(one, rel=1e-3, abs=2e-5)


@pytest.mark.parametrize("nproc", [1, 2])
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=STEMS)
def test_the_model_has_learned(notebook: Path, nproc: int) -> None:
    last = [line for line in outcome(notebook, nproc).lines if line.startswith("epoch ")][-1]
    assert float(NUMBER.findall(last)[1]) < 5.0
