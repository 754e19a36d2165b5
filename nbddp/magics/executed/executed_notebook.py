"""The notebook that a kernel has executed, as if it were read from a file.

Cells have the numbers of the saved file where that has all of them in the order in which they were executed: then the
script is that of `nbddp export`, byte for byte. Otherwise a cell has the number of its prompt, `[7]`, and where
those do not rise, its place among the executed cells.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from nbddp.magics.executed.record import Executed

LARGEST = 4 << 20  # bytes of a file that is read for its cells' numbers: pictures may make it too large to be quick
UNNAMED = "notebook.ipynb"


def as_file(cells: Sequence[Executed], path: Path | None) -> tuple[dict[str, Any], tuple[int, ...]]:
    """The notebook as the JSON of an .ipynb file, and the number of each cell in it; places between them are blank."""
    numbers = _in_file(cells, path) or _by_prompt(cells)
    filled: list[dict[str, Any]] = [_blank() for _ in range(max(numbers, default=0))]
    for number, cell in zip(numbers, cells, strict=True):
        filled[number - 1] = {
            "cell_type": "code",
            "source": cell.source,
            "metadata": {"tags": list(cell.tags)},
            "execution_count": cell.count or None,
            "outputs": [],
            "id": cell.id or f"in-{number}",
        }
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": filled}, numbers


def file_of(namespace: Mapping[str, Any]) -> Path | None:
    """The notebook's file, as far as the server or the editor tells its kernel."""
    told = namespace.get("__vsc_ipynb_file__") or os.environ.get("JPY_SESSION_NAME")
    return Path(told) if isinstance(told, str) and told.endswith(".ipynb") else None


def _blank() -> dict[str, Any]:
    return {"cell_type": "markdown", "source": "", "metadata": {}}


def _in_file(cells: Sequence[Executed], path: Path | None) -> tuple[int, ...] | None:
    ids = _ids(path) if path else []
    places = {identity: place for place, identity in enumerate(ids, start=1)}
    numbers = [places.get(cell.id) if cell.id else None for cell in cells]
    known = [number for number in numbers if number is not None]
    rising = all(before < after for before, after in pairwise(known))
    return tuple(known) if known and len(known) == len(cells) and rising else None


def _ids(path: Path) -> list[str | None]:
    try:
        if path.stat().st_size > LARGEST:
            return []
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        return [cell.get("id") for cell in cells]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return []


def _by_prompt(cells: Sequence[Executed]) -> tuple[int, ...]:
    """The prompts where they rise, else the places: a cell executed again may stand before others."""
    counts = tuple(cell.count for cell in cells)
    rising = all(0 < before < after for before, after in pairwise(counts))
    return counts if rising and 0 not in counts else tuple(range(1, len(cells) + 1))
