"""Where a notebook goes to another folder: `%cd data`, `os.chdir("data")`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from nbddp.analysis.reading import Reading
from nbddp.analysis.syntax import bindings, qualified
from nbddp.analysis.values import is_foreign


@dataclass(frozen=True)
class Change:
    """One of them. IPython's own says where there is no such folder, and goes on."""

    statement: ast.Expr
    folder: ast.expr
    magic: bool


def folder_changes(plan: Reading) -> Iterator[Change]:
    for node in plan.nodes():
        match node:
            case ast.Expr(value=ast.Call(func=func, args=[folder])) if qualified(func, plan.flow.imports) == "os.chdir":
                cell, line = plan.program.place(node.lineno)
                magic = any(e.line == line and e.name in ("cd", "pushd") for e in cell.escapes)
                yield Change(node, folder, magic)


def has_modules(plan: Reading, change: Change) -> bool:
    """Does the notebook import there, before it goes on to another folder, what may lie there: no known package?"""
    start = change.statement.lineno
    end = min((c.statement.lineno for c in folder_changes(plan) if c.statement.lineno > start), default=None)
    nodes = (n for n in plan.nodes() if isinstance(n, ast.Import | ast.ImportFrom))
    there = (n for n in nodes if n.lineno > start and (end is None or n.lineno < end))
    read = any(start < line and (end is None or line < end) for line, _ in plan.program.brought_at())
    return read or any(is_foreign(f"{target}.*") for node in there for _, target in bindings(node))
