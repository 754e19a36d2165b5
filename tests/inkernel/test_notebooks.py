"""Notebooks of different shape in the kernel's modes: the numbers of one plain process, as their scripts have them.

That the scripts agree with the same process on any number of ranks is tested in tests/e2e; here some of them are run to
be compared with the modes directly.
"""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import pytest
import torch

from tests.e2e.compare import compare
from tests.e2e.expectation import expectation
from tests.e2e.oracle import oracle_of
from tests.e2e.outcome import Outcome, read_files
from tests.e2e.process import run_alone
from tests.e2e.runner import run_notebook

pytestmark = pytest.mark.thorough

NOTEBOOKS = Path(__file__).parents[1] / "e2e" / "notebooks"
IN_SHELL = Path(__file__).with_name("in_shell.py")
# plain, functions, a class, a loss method, two models, hidden states, an autoencoder, triplets, accumulated gradients,
# a schedule by a metric, phases
SHAPES = """
plain_loop function_loop trainer_class forward_bypass gan lstm_hidden_state autoencoder triplet grad_accumulation
plateau phases
""".split()
# Statistics of a batch, dropout, rounding of half precision: in the kernel they are those of one process; split among
# devices they are not.
WHOLE = ["batchnorm_print_eval", "dropout", "transformer_lm", "amp_scaler"]
SAYS = (" · ", "warning: ", "note: ")  # of the view, which has only text to show itself in here


@cache
def outcomes(mode: str) -> dict[str, Outcome]:
    """All of them from one process that forks for each."""
    folder = Path(mkdtemp(prefix="nbddp-in-shell-"))
    names = [*SHAPES, *(WHOLE if mode == "single" else [])]
    words = [str(word) for name in names for word in (folder / name, NOTEBOOKS / f"{name}.py")]
    run_alone([sys.executable, str(IN_SHELL), mode, *words], folder, folder, 400.0)
    return {name: _outcome(folder / name) for name in names}


def _outcome(folder: Path) -> Outcome:
    record = folder / "record.pt"
    said = (folder / "stderr.txt").read_text()
    assert record.exists(), said[-3000:]
    left = torch.load(record, weights_only=True)
    lines = (folder / "stdout.txt").read_text().splitlines()
    shown = tuple(line for line in lines if not any(word in line for word in SAYS))
    return Outcome(left["states"], read_files(folder / "here"), left["values"], shown, said, 0.0)


RUNS = [*(("single", name) for name in (*SHAPES, *WHOLE)), *(("dp", name) for name in SHAPES)]


@pytest.mark.parametrize(("mode", "name"), RUNS)
def test_the_numbers_of_one_plain_process(mode: str, name: str) -> None:
    notebook = NOTEBOOKS / f"{name}.py"
    wanted = expectation(notebook)
    found = outcomes(mode)[name]
    assert not compare(oracle_of(notebook), found, atol=max(wanted.atol, 1e-5), wanted=wanted)
    assert not [line for line in found.lines if "runs unchanged" in line or "no longer as the cells" in line]


@pytest.mark.parametrize("name", ["trainer_class", "phases"])
def test_the_three_modes_agree_with_each_other(name: str) -> None:
    """The first word of the cell changes nothing else: weights, files, values and what is printed.

    Of twelve more shapes the weights are compared in tests/verify.
    """
    notebook = NOTEBOOKS / f"{name}.py"
    ddp = run_notebook(notebook, 3, forked=True)
    for mode in ("single", "dp"):
        assert not compare(ddp, outcomes(mode)[name], atol=1e-5, wanted=expectation(notebook)), mode
