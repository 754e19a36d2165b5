"""Each notebook's exported script, on each number of processes that its header names, against one plain process."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.e2e.expectation import expectation, notebooks
from tests.e2e.judge import differences
from tests.e2e.oracle import oracle_of
from tests.e2e.runner import run_notebook

# The shapes that most notebooks have run on each number of processes every time; the others on two, and on all with
# `make test-all`.
EVERYWHERE = frozenset(
    """
    plain_loop function_loop trainer_class globals_read phases eval_21 early_stopping plateau best_checkpoint
    random_split_unseeded batchnorm_print_eval gan grad_accumulation amp_scaler forward_bypass download_once
    uneven_data digits
    """.split()
)
# These are started as a user starts them; the others in forks, which is the same script in a third of the time.
BY_COMMAND = frozenset("plain_loop trainer_class loader_workers next_stop_iteration digits".split())
ALL = os.environ.get("NBDDP_TEST_ALL") == "1"


def numbers(notebook: Path) -> tuple[int, ...]:
    every = tuple(expectation(notebook).nproc)
    if ALL:
        return tuple(sorted({1, *every}))  # on one process the script does what any notebook does
    return every if notebook.stem in EVERYWHERE else tuple(n for n in every if n == 2)


RUNS = [
    pytest.param(notebook, nproc, id=f"{notebook.stem}-{nproc}")
    for notebook in notebooks()
    for nproc in numbers(notebook)
]


@pytest.mark.parametrize(("notebook", "nproc"), RUNS)
def test_the_exported_script_does_what_the_notebook_does(notebook: Path, nproc: int) -> None:
    outcome = run_notebook(notebook, nproc, forked=notebook.stem not in BY_COMMAND)
    found = differences(notebook, oracle_of(notebook), outcome, nproc)
    assert not found, "\n".join(found)
