"""Which line of which cell each line of a run's script came from, as the run keeps it for its tracebacks."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nbddp.run.folder.files import text_of

if TYPE_CHECKING:
    from nbddp.notebook import Notebook


def line_map(notebook: Notebook, places: Sequence[tuple[int, int] | None]) -> Iterator[dict[str, Any]]:
    """With the cell's own text, for the notebook may have changed by the time that a traceback quotes it."""
    sources = {cell.number: cell.source.split("\n") for cell in notebook.cells}
    for number, place in enumerate(places, start=1):
        if place is not None:
            cell, line = place
            yield {"script": number, "cell": cell, "line": line, "source": sources[cell][line - 1]}


def read_line_map(path: Path) -> dict[int, Mapping[str, Any]]:
    """Lines of the script and where each came from; none where the file is missing or damaged."""
    try:
        rows = json.loads(text_of(path))
        return {int(row["script"]): row for row in rows}
    except (OSError, ValueError, KeyError, TypeError):
        return {}
