"""What it does
    Removes what only a notebook can display: figures that open, widgets, images, output that is cleared.

Why DDP needs it
    A script has no page to draw on, and `plt.show()` would stop the training until somebody closes a window.

Before
    plt.plot(losses)
    plt.show()

After
    plt.plot(losses)
    plt.close()

Declines
    Figures that are saved: rank 0 saves them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from nbddp.analysis import Plan
from nbddp.analysis.syntax import keywords_of, qualified
from nbddp.diagnostics import Diagnostic
from nbddp.edits import Edit, replace

NAME = "show"
MEDIA = ("Image", "SVG", "Video", "Audio")  # read a file when they are made, which rank 0 may be about to write


def rewrite(plan: Plan) -> Iterator[Edit | Diagnostic]:
    handles = set[ast.AST]()  # in a notebook, of what has been displayed: to show something else there later
    for node in plan.nodes():
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            yield from _statement(plan, node.value)
        elif isinstance(node, ast.Call) and _is_handle(plan, node):
            yield replace(plan.program, NAME, node, f"{plan.naming('Silent')}()", ("Silent",))
            handles |= {node.func}
        elif node in handles:
            continue
        elif isinstance(node, ast.Name) and node.id == "display" and "display" not in plan.flow.imports:
            if not _is_medium(plan, plan.program.parents.get(node)):
                yield replace(plan.program, NAME, node, "print")


def _statement(plan: Plan, call: ast.Call) -> Iterator[Edit]:
    name = qualified(call.func, plan.flow.imports) or ""
    if name == "matplotlib.pyplot.show":
        base = plan.program.source(call.func).removesuffix("show")
        yield replace(plan.program, NAME, call, f"{base}close()")
    elif name == "IPython.display.clear_output" or _is_medium(plan, call):
        yield replace(plan.program, NAME, call, "pass")
    elif _is_display(plan, call):
        if name == "IPython.display.display":
            yield replace(plan.program, NAME, call.func, "print")
        if call.args and call.keywords:  # `display_id="loss"`
            yield Edit(NAME, plan.program.span(call.args[-1])[1], plan.program.span(call)[1] - 1, "")
    elif name == "IPython.display.update_display":
        yield replace(plan.program, NAME, call, "pass")


def _is_handle(plan: Plan, call: ast.Call) -> bool:
    """`handle = display(figure, display_id=True)`"""
    used = not isinstance(plan.program.parents[call], ast.Expr)
    return used and _is_display(plan, call) and "display_id" in keywords_of(call)


def _is_display(plan: Plan, call: ast.Call) -> bool:
    name = qualified(call.func, plan.flow.imports) or ""
    return name == "IPython.display.display" or (name == "display" and "display" not in plan.flow.imports)


def _is_medium(plan: Plan, call: ast.AST | None) -> bool:
    """`Image("samples.png")`, or `display()` of nothing else."""
    if not isinstance(call, ast.Call):
        return False
    name = qualified(call.func, plan.flow.imports) or ""
    if _is_display(plan, call):
        return bool(call.args) and all(_is_medium(plan, a) for a in call.args)
    return name.startswith("IPython.") and name.rsplit(".", 1)[-1] in MEDIA
