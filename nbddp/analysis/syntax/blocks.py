"""The blocks that a statement lies in: whoever comes to one of two statements in the same blocks comes to the other."""

from __future__ import annotations

import ast

from nbddp.analysis.syntax.program import Program

BLOCKS = ast.For | ast.AsyncFor | ast.While | ast.If | ast.Try | ast.FunctionDef | ast.AsyncFunctionDef


def blocks_around(program: Program, node: ast.AST) -> list[ast.AST]:
    return [a for a in program.ancestors(node) if isinstance(a, BLOCKS)]
