"""The comparison that a notebook's header asks for."""

from __future__ import annotations

from pathlib import Path

from .alike import alike
from .compare import compare
from .expectation import expectation
from .outcome import Outcome


def differences(notebook: Path, oracle: Outcome, run: Outcome, nproc: int) -> list[str]:
    wanted = expectation(notebook)
    found = [] if run.ranks == nproc else [f"{run.ranks} ranks say that they ended, not {nproc}"]
    if wanted.must_be_equal(nproc):
        return found + compare(oracle, run, atol=wanted.atol, wanted=wanted)
    return found + alike(oracle, run, wanted)
