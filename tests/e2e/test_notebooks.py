"""Each notebook's exported script, on each number of processes that its header names, against one plain process."""

from __future__ import annotations

from pathlib import Path

import pytest

from .expectation import expectation, notebooks
from .judge import differences
from .oracle import oracle_of
from .runner import run_notebook

RUNS = [
    pytest.param(notebook, nproc, id=f"{notebook.stem}-{nproc}")
    for notebook in notebooks()
    for nproc in expectation(notebook).nproc
]


@pytest.mark.parametrize(("notebook", "nproc"), RUNS)
def test_the_exported_script_does_what_the_notebook_does(notebook: Path, nproc: int) -> None:
    found = differences(notebook, oracle_of(notebook), run_notebook(notebook, nproc), nproc)
    assert not found, "\n".join(found)
