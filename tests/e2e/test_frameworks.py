"""Notebooks that leave the training to a framework: their scripts on one process and on two agree, and both report."""

from __future__ import annotations

from pathlib import Path

import pytest

from .claims import training
from .compare import unequal
from .expectation import HERE
from .outcome import NUMBER, Outcome
from .runner import run_notebook, script_of

NOTEBOOKS = sorted((HERE / "frameworks").glob("*.py"))


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=[path.stem for path in NOTEBOOKS])
def test_two_processes_train_as_one(notebook: Path, proved) -> None:
    def judge() -> None:
        one, two = run_notebook(notebook, 1), run_notebook(notebook, 2)
        they_leave_the_same(one, two)
        they_print_the_same(one, two)
        for outcome in (one, two):
            assert float(NUMBER.findall(reports(outcome)[-1])[1]) < 5.0, "the model has not learned"

    proved(training(f"framework {notebook.stem}", script_of(notebook), 2, notebook), judge)


def they_leave_the_same(one: Outcome, two: Outcome) -> None:
    assert (one.ranks, two.ranks) == (1, 2)
    assert one.states.keys() == two.states.keys()
    for name in one.states:
        assert unequal(one.states[name], two.states[name], rtol=1e-4, atol=1e-5) == []
    assert one.files.keys() == two.files.keys()


def they_print_the_same(one: Outcome, two: Outcome) -> None:
    assert numbers(one)
    assert numbers(two) == pytest.approx(numbers(one), rel=1e-3, abs=2e-5)


def numbers(outcome: Outcome) -> list[float]:
    return [float(number) for line in reports(outcome) for number in NUMBER.findall(line)]


def reports(outcome: Outcome) -> list[str]:
    """A line for each epoch: its number, its loss, and what else is told."""
    return [line for line in outcome.lines if line.startswith("epoch ")]
