"""The notebook itself, run in one plain process without nbddp: what its exported script must agree with."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path

import torch

from .expectation import expectation
from .forked import Order, run_forked
from .neighbours import lay_out
from .outcome import Outcome, read_files
from .process import environment

ONE_PROCESS = Path(__file__).with_name("one_process.py")
LIMIT = 240.0


def run_oracle(notebook: Path) -> Outcome:
    """Every module, file, value and line that the notebook leaves; a temporary folder is its working directory."""
    wanted = expectation(notebook)
    order = ["rebuilt" if wanted.rebuilt else "once", *(str(number) for number in wanted.order)]
    with tempfile.TemporaryDirectory() as temporary:
        folder, logs = Path(temporary, "here"), Path(temporary, "logs")
        lay_out(notebook, folder)
        logs.mkdir()
        target = logs / "record.pt"
        arguments = (str(notebook), str(target), *order)
        variables = environment({})  # of this test, not of the process that forks
        asked = Order(str(ONE_PROCESS), arguments, str(folder), str(logs), variables)
        printed, log, seconds = run_forked(asked, LIMIT)
        left = torch.load(target, weights_only=True)
        return Outcome(left["states"], read_files(folder), left["values"], tuple(printed.splitlines()), log, seconds)


@cache
def oracle_of(notebook: Path) -> Outcome:
    """Run once for all numbers of processes."""
    return run_oracle(notebook)
