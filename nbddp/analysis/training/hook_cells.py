"""Cells in which an expert says how a model is wrapped, and how the processes meet."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from nbddp.analysis.syntax import Program, Statement, walk
from nbddp.diagnostics import Diagnostic
from nbddp.sentence import sentence

RULE = "marks"
TAKES = {"wrap": ("model", "device"), "connect": ("rank", "world_size")}  # the function that each has to define


def hook(program: Program, role: str) -> Statement | None:
    """The definition that stands in place of `DDP(model)`, or of `init_process_group`."""
    found = [s for s in program.statements if s.cell.mark == role and _defines(s, role)]
    return found[-1] if found else None


def in_hook(program: Program, node: ast.AST) -> bool:
    """What the notebook itself never runs."""
    return any(s.cell.mark in TAKES and node in walk(s.node) for s in program.statements)


def misused_hooks(program: Program) -> Iterator[Diagnostic]:
    """Cells that are marked so and define no such function."""
    for role, takes in TAKES.items():
        marked = [s for s in program.statements if s.cell.mark == role]
        if marked and not any(_defines(s, role) and _fits(s.node, len(takes)) for s in marked):
            yield program.diagnose(
                RULE, "error", marked[0].node,
                sentence("a cell that is marked '%1' has to define '%2'", role, f"{role}({', '.join(takes)})"),
            )  # fmt: skip


def _defines(statement: Statement, name: str) -> bool:
    return isinstance(statement.node, ast.FunctionDef) and statement.node.name == name


def _fits(node: ast.stmt, count: int) -> bool:
    """Can it be called with so many arguments?"""
    if not isinstance(node, ast.FunctionDef):
        return True
    places = len(node.args.posonlyargs) + len(node.args.args)
    needed = places - len(node.args.defaults)
    return needed <= count and (places >= count or node.args.vararg is not None)
