"""How much of a cell had run when it failed."""

from __future__ import annotations

import ast
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
    reached = [first for node in parse(cell.code).body if (first := _first_line(node)) <= line]
    return "\n".join(source.split("\n")[: reached[-1] - 1]) if reached else ""


def _first_line(node: ast.stmt) -> int:
    """That of its decorators, which run before it."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(d.lineno for d in decorators)])


def _line_in_cell(error: BaseException, namespace: Mapping[str, Any]) -> int | None:
    """The line of the cell's own level, the outermost that runs in the notebook's namespace."""
    for frame, line in traceback.walk_tb(error.__traceback__):
        if frame.f_globals is namespace and frame.f_code.co_name == "<module>":
            return line
    return None
