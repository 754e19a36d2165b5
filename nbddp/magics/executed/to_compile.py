"""What a kernel has executed, as the notebook that the compiler takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from nbddp.magics.executed.executed_notebook import UNNAMED, as_file, file_of
from nbddp.magics.executed.record import Executed
from nbddp.magics.executed.session import Session
from nbddp.notebook import Notebook, notebook_from_json


def notebook_of(session: Session, cells: Sequence[Executed]) -> tuple[Notebook, tuple[int, ...]]:
    """What was executed, as a notebook, and the numbers of its cells."""
    path = file_of(session.namespace)
    data, numbers = as_file(cells, path)
    notebook = notebook_from_json(data, path.name if path else UNNAMED)
    return replace(notebook, folder=Path.cwd()), numbers
