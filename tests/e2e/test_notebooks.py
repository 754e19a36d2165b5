"""Each notebook's exported script, on each number of processes that its header names, against one plain process."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from .expectation import expectation, notebooks
from .judge import differences
from .oracle import oracle_of
from .runner import run_notebook

# The shapes that most notebooks have run on each number of processes every time; the others on two, and on all with
# `make test-all`.
EVERYWHERE = frozenset(
    """
    plain_loop function_loop trainer_class globals_read phases eval_21 early_stopping plateau best_checkpoint
    random_split_unseeded batchnorm_print_eval gan grad_accumulation amp_scaler forward_bypass download_once
    uneven_data digits
    """.split()
)
ALL = os.environ.get("NBDDP_TEST_ALL") == "1"


def numbers(notebook: Path) -> tuple[int, ...]:
    every = tuple(expectation(notebook).nproc)
    return every if ALL or notebook.stem in EVERYWHERE else tuple(n for n in every if n == 2)


RUNS = [
    pytest.param(notebook, nproc, id=f"{notebook.stem}-{nproc}")
    for notebook in notebooks()
    for nproc in numbers(notebook)
]


@pytest.mark.parametrize(("notebook", "nproc"), RUNS)
def test_the_exported_script_does_what_the_notebook_does(notebook: Path, nproc: int) -> None:
    found = differences(notebook, oracle_of(notebook), run_notebook(notebook, nproc), nproc)
    assert not found, "\n".join(found)
