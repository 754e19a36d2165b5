"""What it does
    Takes out what only a notebook can show: figures that open, widgets, output that is cleared.

Why DDP needs it
    A script has no page to draw on; `plt.show()` would stop the training until somebody closes a window.

Before
    plt.plot(losses)
    plt.show()

After
    plt.plot(losses)
    plt.close()

Declines
    Figures that are saved: they are saved, by rank 0.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from nbddp.analysis.edit import Edit, replace
from nbddp.analysis.imports import qualified
from nbddp.analysis.plan import Plan
from nbddp.diagnostics import Diagnostic

NAME = "show"
CLEARS = ("IPython.display.clear_output", "IPython.display.display", "IPython.display.set_matplotlib_formats")


def rewrite(plan: Plan) -> Iterator[Edit | Diagnostic]:
    for node in plan.nodes():
        if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Call):
            if isinstance(node, ast.Name) and node.id == "display" and "display" not in plan.flow.imports:
                yield replace(plan.program, NAME, node, "print")
            continue
        name = qualified(node.value.func, plan.flow.imports) or ""
        if name == "matplotlib.pyplot.show":
            base = plan.program.source(node.value.func).removesuffix("show")
            yield replace(plan.program, NAME, node.value, f"{base}close()")
        elif name == "IPython.display.clear_output":
            yield replace(plan.program, NAME, node.value, "pass")
        elif name == "IPython.display.display":
            yield replace(plan.program, NAME, node.value.func, "print")
