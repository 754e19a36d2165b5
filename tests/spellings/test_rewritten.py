"""A notebook in other words gives the same script: several statements on a line, annotations, `x = x + y`."""

from __future__ import annotations

import ast
import functools
import itertools
import re
from collections.abc import Callable
from pathlib import Path

import pytest

import nbddp
from nbddp.notebook import notebook_from_percent

NOTEBOOKS = Path(__file__).parent.parent / "e2e" / "notebooks"
NAMES = ("epoch_loader_rebuilt", "folds_with_everything", "kfold", "local_modules", "metrics_by_step", "while_loop")
SIMPLE = (ast.Assign, ast.AugAssign, ast.Expr, ast.Return, ast.Break, ast.Continue)


def on_one_line(cell: str) -> str:
    """Statements that follow one another, joined by semicolons."""
    lines = cell.split("\n")
    blocks = [b for n in ast.walk(ast.parse(cell)) for _, b in ast.iter_fields(n) if isinstance(b, list)]
    pairs = [pair for block in blocks for pair in itertools.pairwise(block)]
    second = {b.lineno for a, b in pairs if _is_short(a, lines) and _is_short(b, lines) and b.lineno == a.lineno + 1}
    for line in sorted(second, reverse=True):
        lines[line - 2 : line] = [f"{lines[line - 2]}; {lines[line - 1].lstrip()}"]
    return "\n".join(lines)


def _is_short(node: ast.AST, lines: list[str]) -> bool:
    """On a line without comments."""
    return isinstance(node, SIMPLE) and node.lineno == node.end_lineno and "#" not in lines[node.lineno - 1]


class Annotated(ast.NodeTransformer):
    def visit_Assign(self, node: ast.Assign) -> ast.stmt:
        match node.targets:
            case [ast.Name() as name]:
                return ast.AnnAssign(name, ast.Name("object"), node.value, 1)
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.stmt:
        return node  # what has an annotation there is a field

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.stmt:
        whose = any(isinstance(n, ast.Global | ast.Nonlocal) for n in ast.walk(node))
        return node if whose else self.generic_visit(node)  # type: ignore[return-value]


class WrittenOut(ast.NodeTransformer):
    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt:
        match node:
            case ast.AugAssign(target=ast.Name(id=name) as target, op=ast.Add() as op):
                return ast.Assign([target], ast.BinOp(ast.Name(name), op, node.value))
        return node


class Plain(ast.NodeTransformer):
    """As it was before."""

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:
        return ast.Assign([node.target], node.value) if node.value else node

    def visit_Assign(self, node: ast.Assign) -> ast.stmt:
        match node:
            case ast.Assign([ast.Name(id=name) as target], ast.BinOp(ast.Name(id=again), ast.Add() as op, value)):
                return ast.AugAssign(target, op, value) if name == again else node
        return node


def by(transformer: type[ast.NodeTransformer]) -> Callable[[str], str]:
    return lambda cell: ast.unparse(ast.fix_missing_locations(transformer().visit(ast.parse(cell))))


def rewritten(text: str, change: Callable[[str], str]) -> str:
    first, *cells = re.split(r"(?m)^(# %%.*\n)", text)
    return first + "".join(change(part) + "\n" if i % 2 else part for i, part in enumerate(cells))


@functools.cache
def exported(text: str) -> tuple[str, list[str]]:
    """What the script does, and what is said of it."""
    script = nbddp.export(notebook_from_percent(text, "notebook.py"))
    tree = ast.parse(script.text)
    said = sorted(f"{d.rule}: {d.message}" for d in script.diagnostics)
    return ast.unparse(ast.fix_missing_locations(Plain().visit(ast.Module(tree.body[1:], [])))), said


@pytest.mark.parametrize("change", [on_one_line, by(Annotated), by(WrittenOut)], ids=["line", "annotated", "sums"])
@pytest.mark.parametrize("name", NAMES)
def test_other_words_give_the_same_script(name, change):
    text = (NOTEBOOKS / f"{name}.py").read_text("utf-8")
    other = rewritten(text, change)
    script, said = exported(other)
    before, was_said = exported(text)
    assert script == before
    assert said == was_said
