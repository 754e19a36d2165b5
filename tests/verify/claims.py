"""The claim of a verification: `verify` comes to this verdict about a notebook, or about a script in its place."""

from __future__ import annotations

from pathlib import Path

import nbddp
from nbddp.analysis.plan import make_plan
from nbddp.notebook import read_notebook
from nbddp.options import Options
from nbddp.verify.instrument import cells_alone
from nbddp.watch_points import to_json
from tests.proofs.claim import Claim

PACKAGE = Path(nbddp.__file__).parent
HARNESS = (PACKAGE / "verify", PACKAGE / "run")  # what starts the runs and compares them is what is tested here


def verification(
    name: str, notebook: Path, nproc: int, *, options: Options | None = None, script: str | None = None
) -> Claim:
    """Both sides count: the script, and the notebook's cells as they run on one process."""
    exported = nbddp.export(notebook, options)
    text = exported.text if script is None else script
    alone = cells_alone(make_plan(read_notebook(notebook), options or Options()))
    how = (alone, repr(options), to_json(exported.watch))
    return Claim(f"verification of {name} on {nproc} processes", text, nproc, notebook, HARNESS, how)
