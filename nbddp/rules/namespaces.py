"""What it does
    Lets what asks for names by their text find them: in a script, the names of the cells are the module's.

Why DDP needs it
    Each process calls a function that trains. There, `locals()` has the function's own names, and what `exec` binds is
    lost.

Before
    exec("total += 1")

After
    exec("total += 1", globals())

Declines
    Functions, classes and comprehensions of the notebook: their names stay theirs. Texts that are given their names.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from nbddp.analysis import Plan
from nbddp.diagnostics import Diagnostic
from nbddp.edits import Edit, append_argument, replace

NAME = "namespaces"
SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp,
          ast.GeneratorExp)  # fmt: skip


def rewrite(plan: Plan) -> Iterator[Edit | Diagnostic]:
    for node in plan.nodes():
        match node:
            case ast.Call(func=ast.Name(id="locals" | "vars") as func, args=[], keywords=[]):
                if _is_of_cells(plan, node, func.id):
                    yield replace(plan.program, NAME, func, "globals")
            case ast.Call(func=ast.Name(id="exec"), args=[_], keywords=[]):
                if _is_of_cells(plan, node, "exec"):
                    yield append_argument(plan.program, NAME, node, "globals()", ())


def _is_of_cells(plan: Plan, node: ast.Call, name: str) -> bool:
    """At the top level, of Python's own function."""
    own = any(name in plan.flow.effects[s.index].may_bind for s in plan.program.statements)
    return not own and not any(isinstance(a, SCOPES) for a in plan.program.ancestors(node))
