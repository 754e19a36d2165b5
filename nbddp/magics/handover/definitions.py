"""What the training cell defines and imports is there afterwards, as if the cell had run in the kernel."""

from __future__ import annotations

import ast
from typing import Any

from nbddp.analysis import Plan

DEFINITIONS = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom


def defines(node: ast.stmt) -> bool:
    """Also `add = lambda x: x + 1`."""
    return isinstance(node, DEFINITIONS) or (isinstance(node, ast.Assign) and isinstance(node.value, ast.Lambda))


def define(plan: Plan, namespace: dict[str, Any]) -> dict[str, str]:
    """The names of those that failed here, with the reason."""
    failed: dict[str, str] = {}
    for statement in plan.program.statements:
        if statement.cell.number != plan.training_cell or not defines(statement.node):
            continue
        if error := executed(plan, statement.node, namespace):
            why = f"its definition failed in the kernel: {error}"
            failed |= dict.fromkeys(plan.flow.effects[statement.index].binds, why)
    return failed


def executed(plan: Plan, node: ast.stmt, namespace: dict[str, Any]) -> str:
    """Run a statement of the training cell in the kernel: nothing, or the error."""
    code = compile(ast.Module([node], []), f"<cell {plan.training_cell}>", "exec", dont_inherit=True)
    try:
        exec(code, namespace)
    except Exception as error:  # noqa: BLE001 -- it is the user's code, and any error may come of it
        return f"{type(error).__name__}: {error}"
    return ""
