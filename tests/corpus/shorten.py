"""A notebook cut short, the same way for all runs: two epochs where a number of epochs is written out."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

from nbddp.notebook import Cell, Notebook

EPOCHS = re.compile(
    r"(?i)(^|_)(n|num|max|total|training|no_of|nr)?_?epochs?$|^(n_|max_|num_)?iters?$|^numepochs$|^nepochs$"
)
COUNTER = re.compile(r"(?i)^(epoch|ep|e|iter)(_?(idx|num|i))?$")
KEPT = 2

Place = tuple[int, int, int]  # cell, line, column of a statement
Replacement = tuple[int, int, int, str]  # line, columns from and to, text


def as_json(notebook: Notebook, removed: frozenset[Place] = frozenset()) -> dict[str, Any]:
    """The shortened notebook as a file of format 4; statements that raise here are taken out on request."""
    cells = []
    for cell in notebook.cells:
        code = cell.kind == "code"
        source = shortened(cell, removed) if code and cell.code.strip() and not cell.error else cell.source
        made: dict[str, Any] = {"cell_type": cell.kind, "metadata": {"tags": list(cell.tags)}, "source": source}
        cells.append(made | ({"outputs": [], "execution_count": cell.execution_count} if code else {}))
    return {"nbformat": 4, "nbformat_minor": 4, "metadata": {}, "cells": cells}


def shortened(cell: Cell, removed: frozenset[Place]) -> str:
    tree = ast.parse(cell.code)
    lines = cell.source.split("\n")
    for line, start, end, text in sorted(set(_fewer_epochs(cell, tree)), reverse=True):
        lines[line - 1] = lines[line - 1][:start] + text + lines[line - 1][end:]
    for node in tree.body:
        if (cell.number, node.lineno, node.col_offset) in removed and node.end_lineno:
            lines[_first_line(node) - 1 : node.end_lineno] = ["pass", *[""] * (node.end_lineno - _first_line(node))]
    return "\n".join(lines)


def _first_line(node: ast.stmt) -> int:
    return min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])


def _fewer_epochs(cell: Cell, tree: ast.Module) -> Iterator[Replacement]:
    for node in _numbers_of_epochs(tree):
        if node.value > KEPT and node.end_col_offset is not None:
            start = cell.source_column(node.lineno, node.col_offset)
            yield node.lineno, start, start + node.end_col_offset - node.col_offset, str(KEPT)


def _numbers_of_epochs(tree: ast.Module) -> Iterator[ast.Constant]:
    for node in ast.walk(tree):
        for name, value in _bindings(node):
            if EPOCHS.search(name) and isinstance(value, ast.Constant) and type(value.value) is int:
                yield value
        if isinstance(node, ast.For) and isinstance(node.target, ast.Name) and COUNTER.match(node.target.id):
            yield from _ends_of_ranges(node.iter)


def _bindings(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """`epochs = 5`, `a.epochs = 5`, `f(epochs=5)`, `{"epochs": 5}`, `def f(epochs=5)`, `epochs: int = 5`."""
    if isinstance(node, ast.Assign):
        for target in node.targets:
            pairs = [(target, node.value)]
            if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                pairs = list(zip(target.elts, node.value.elts, strict=False))
            yield from ((_name(t), v) for t, v in pairs)
    elif isinstance(node, ast.AnnAssign) and node.value is not None:
        yield _name(node.target), node.value
    elif isinstance(node, ast.keyword) and node.arg:
        yield node.arg, node.value
    elif isinstance(node, ast.Dict):
        yield from (
            (str(k.value), v) for k, v in zip(node.keys, node.values, strict=True) if isinstance(k, ast.Constant)
        )
    elif isinstance(node, ast.arguments):
        named = [*node.posonlyargs, *node.args]
        yield from ((a.arg, d) for a, d in zip(reversed(named), reversed(node.defaults), strict=False))
        yield from ((a.arg, d) for a, d in zip(node.kwonlyargs, node.kw_defaults, strict=True) if d)


def _name(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        return str(node.slice.value)
    return node.id if isinstance(node, ast.Name) else ""


def _ends_of_ranges(node: ast.expr) -> Iterator[ast.Constant]:
    for call in ast.walk(node):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in ("range", "trange"):
            if call.args and isinstance(end := call.args[min(1, len(call.args) - 1)], ast.Constant):
                if type(end.value) is int:
                    yield end
