"""What it does
    Lets what asks for names by their text find them: in a script, the names of the cells are the module's.
    Annotations of such names are left out. `__builtins__` is asked for as the module `builtins`.

Why DDP needs it
    Each process calls a function that trains. There, `locals()` has the function's own names, what `exec` binds is
    lost, and a name that is the module's can have no annotation. What is spawned imports the script, and in a module
    that is imported `__builtins__` is a dictionary.

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
from nbddp.edits import Edit, append_argument, remove, replace

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
            case ast.Name(id="__builtins__", ctx=ast.Load()):
                yield replace(plan.program, NAME, node, "builtins", ("import builtins",))
            case ast.Assign() | ast.AnnAssign() if not _is_inside(plan, node):
                yield from _annotated(plan, node)


def _annotated(plan: Plan, node: ast.Assign | ast.AnnAssign) -> Iterator[Edit]:
    if isinstance(node, ast.AnnAssign):  # `best: float`, and no value
        yield remove(plan.program, NAME, node)
    elif (annotation := plan.program.annotations.get(node)) is not None:
        end = plan.program.text.index("=", plan.program.span(annotation)[1])
        yield Edit(NAME, plan.program.span(node.targets[0])[1], end, " ")


def _is_of_cells(plan: Plan, node: ast.Call, name: str) -> bool:
    """At the top level, of Python's own function."""
    own = any(name in plan.flow.effects[s.index].may_bind for s in plan.program.statements)
    return not own and not _is_inside(plan, node)


def _is_inside(plan: Plan, node: ast.AST) -> bool:
    return any(isinstance(a, SCOPES) for a in plan.program.ancestors(node))
