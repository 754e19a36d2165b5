"""What it does
    Makes imports search the folder that the notebook changes to, and skips a `%cd` to a folder that does not exist.

Why DDP needs it
    A kernel searches for modules in its current folder; a script searches in the folder of its own file, in every
    process. `%cd` to a missing folder only prints a message in a notebook, as notebooks from Colab do on other
    machines; a run that starts in the kernel's folder is where a relative `%cd` has led already.

Before
    %cd /content/project
    from models import Net

After
    if os.path.isdir("/content/project"):
        os.chdir("/content/project")
    sys.path.insert(0, os.getcwd())  # where a notebook looks for modules

Declines
    Notebooks that import only installed packages after the change; `os.chdir()`, which raises in a notebook too.
"""

from __future__ import annotations

from collections.abc import Iterator

from nbddp.analysis import Plan
from nbddp.analysis.disk import folder_changes, has_modules
from nbddp.diagnostics import Diagnostic
from nbddp.edits import Edit, after, guard

NAME = "folder"
LINE = "sys.path.insert(0, os.getcwd())  # where a notebook looks for modules"


def rewrite(plan: Plan) -> Iterator[Edit | Diagnostic]:
    for change in folder_changes(plan):
        if has_modules(plan, change):
            yield after(plan.program, NAME, change.statement, LINE, ("import os", "import sys"))
        if change.magic:
            condition = f"os.path.isdir({plan.program.source(change.folder)})"
            yield from guard(plan.program, NAME, change.statement, condition, ("import os",))
