"""What it does
    Has imports look in the folder to which the notebook goes, and passes over a folder that `%cd` does not find.

Why DDP needs it
    A kernel looks for modules where it is by now; a script looks where its file is, in every process that it starts.
    `%cd` of a folder that is not there says so and goes on, as notebooks that were written in Colab do elsewhere.

Before
    %cd /content/project
    from models import Net

After
    if os.path.isdir("/content/project"):
        os.chdir("/content/project")
    sys.path.insert(0, os.getcwd())  # where a notebook looks for modules

Declines
    Where nothing but known packages is imported behind it; and a relative folder, which is part of the project.
"""

from __future__ import annotations

from collections.abc import Iterator

from nbddp.analysis.edit import Edit, after, guard, stands_alone
from nbddp.analysis.folders import folder_changes, has_modules
from nbddp.analysis.plan import Plan
from nbddp.diagnostics import Diagnostic

NAME = "folder"
LINE = "sys.path.insert(0, os.getcwd())  # where a notebook looks for modules"


def rewrite(plan: Plan) -> Iterator[Edit | Diagnostic]:
    for change in folder_changes(plan):
        if not stands_alone(plan.program, change.statement):
            continue
        if has_modules(plan, change):
            yield after(plan.program, NAME, change.statement, LINE, ("import os", "import sys"))
        if change.magic and change.absolute:
            condition = f"os.path.isdir({plan.program.source(change.folder)})"
            yield from guard(plan.program, NAME, change.statement, condition, ("import os",))
