"""How long the scripts may be: `PYTHONPATH=. python tools/budget.py` shows where their lines go."""

from __future__ import annotations

import statistics
from functools import cache
from pathlib import Path

import pytest

from nbddp.diagnostics import CannotExport
from nbddp.export import export
from tools.budget import Budget, budget, notebooks

pytestmark = pytest.mark.xdist_group("budgets")  # which are measured once
HELPERS = 120
LONGER = {
    "local_modules": "its loaders come from a module that is not read: what they are is only known when it runs",
}
PLAIN = frozenset(
    "data_parallel quickstart volumes best_checkpoint digits early_stopping globals_read plain_loop plateau".split()
)
AT_MOST = {"quickstart": 160, "digits": 160, "volumes": 215}


@cache
def budgets() -> dict[str, Budget]:
    found = {path.stem: _budget(path) for path in notebooks()}
    return {name: budget for name, budget in found.items() if budget is not None}


def _budget(path: Path) -> Budget | None:
    """None where the notebook is refused, of which other tests tell."""
    try:
        return budget(export(path))
    except CannotExport:
        return None


@pytest.mark.parametrize(("name", "lines"), AT_MOST.items())
def test_the_script_of_an_example_is_one_to_be_read(name: str, lines: int) -> None:
    assert budgets()[name].total <= lines


@pytest.mark.parametrize("name", sorted(PLAIN))
def test_a_plain_loop_costs_no_more_than_an_expert_would_write(name: str) -> None:
    assert budgets()[name].total <= budgets()[name].limit


def test_half_of_all_scripts_have_less_than_two_hundred_lines() -> None:
    assert statistics.median(found.total for found in budgets().values()) < 200


def test_helpers_are_few_lines() -> None:
    long = {name for name, found in budgets().items() if found.helpers >= HELPERS}
    assert long == LONGER.keys()


def test_each_notebook_is_measured() -> None:
    assert len(budgets()) > 100
    assert {Path(name).stem for name in budgets()} >= PLAIN
