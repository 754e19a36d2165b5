"""Each notebook's exported script, on each number of processes that its header names, against one plain process."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.claims import training
from tests.e2e.expectation import expectation, notebooks
from tests.e2e.judge import differences
from tests.e2e.oracle import oracle_of
from tests.e2e.runner import run_notebook, script_of

# The shapes that most notebooks have are proved on each number of processes; the others on two, and with
# `make test-all` on all.
EVERYWHERE = frozenset(
    """
    plain_loop function_loop trainer_class globals_read phases eval_21 early_stopping plateau best_checkpoint
    random_split_unseeded batchnorm_print_eval gan grad_accumulation amp_scaler forward_bypass download_once
    uneven_data digits
    """.split()
)
# These are started as a user starts them; the others in forks, which is the same script in a third of the time.
BY_COMMAND = frozenset("plain_loop trainer_class loader_workers next_stop_iteration digits".split())


def runs(notebook: Path) -> list[object]:
    """One process is among them: there the script does what any notebook does. All of a notebook share its oracle."""
    named = expectation(notebook).nproc
    often = named if notebook.stem in EVERYWHERE else tuple(n for n in named if n == 2)
    group = pytest.mark.xdist_group(notebook.stem)
    return [
        pytest.param(notebook, n, id=f"{notebook.stem}-{n}", marks=[group, *([] if n in often else [THOROUGH])])
        for n in sorted({1, *named})
    ]


THOROUGH = pytest.mark.thorough
RUNS = [run for notebook in notebooks() for run in runs(notebook)]


@pytest.mark.parametrize(("notebook", "nproc"), RUNS)
def test_the_exported_script_does_what_the_notebook_does(notebook: Path, nproc: int, proved) -> None:
    forked = notebook.stem not in BY_COMMAND

    def judge() -> None:
        run = run_notebook(notebook, nproc, forked=forked)
        found = differences(notebook, oracle_of(notebook), run, nproc)
        assert not found, "\n".join(found)

    proved(training(f"notebook {notebook.stem}", script_of(notebook), nproc, notebook, forked), judge)
