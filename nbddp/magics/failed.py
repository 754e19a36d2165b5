"""How much of a cell had run when it failed."""

from __future__ import annotations

import traceback
from collections.abc import Mapping
from typing import Any

from nbddp.notebook import cell_from_source, parse


def what_ran(source: str, error: BaseException, namespace: Mapping[str, Any]) -> str:
    """The cell up to the statement that failed; nothing where that cannot be told."""
    line = _line_in_cell(error, namespace)
    cell = cell_from_source(source)
    if line is None or cell.error or cell.mode or not cell.code.strip():
        return ""
    reached = [node for node in parse(cell.code).body if node.lineno <= line]
    if not reached:
        return ""
    first = min([reached[-1].lineno, *(d.lineno for d in getattr(reached[-1], "decorator_list", ()))])
    return "\n".join(source.split("\n")[: first - 1])


def _line_in_cell(error: BaseException, namespace: Mapping[str, Any]) -> int | None:
    """The line of the cell's own level, the outermost that runs in the notebook's namespace."""
    for frame, line in traceback.walk_tb(error.__traceback__):
        if frame.f_globals is namespace and frame.f_code.co_name == "<module>":
            return line
    return None
