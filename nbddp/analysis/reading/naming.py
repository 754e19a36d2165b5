"""Names for what the script adds, none of them a name of the notebook's."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field

from nbddp.analysis.library import HIDES
from nbddp.analysis.reading.interpret import Run
from nbddp.analysis.syntax import walk

# Second choices that still read well.
_INSTEAD = {
    "train": ("train_on_rank", "run_training"),
    "rank": ("process_rank", "ddp_rank"),
    "world_size": ("process_count", "ddp_world_size"),
    "rank_device": ("process_device", "ddp_device"),
    "main": ("main_ddp", "run_script"),
    "DDP": ("WrappedDDP", "NotebookDDP"),
}


@dataclass(frozen=True)
class Naming:
    """What the script calls its own parts; `naming("DDP")` gives the name to write."""

    taken: frozenset[str] = frozenset()
    imported: Mapping[str, str] = field(default_factory=dict)  # what the notebook's names stand for
    own: Mapping[str, str] = field(default_factory=dict)  # what the script's own imports stand for
    hidden: frozenset[str] = frozenset()  # which `from numpy import *` gives another meaning
    device: str | None = None  # the notebook's name for the rank's device, where it has just one

    def __call__(self, name: str) -> str:
        if name == "rank_device" and self.device is not None:
            return self.device
        same = name in self.own and self.imported.get(name) == self.own[name] and name not in self.hidden
        if name not in self.taken or same:
            return name
        choices = [*_INSTEAD.get(name, ()), f"{name}_", f"ddp_{name}"]
        return next((c for c in choices if c not in self.taken), f"nbddp_{name}")


def naming_for(run: Run, own: Mapping[str, str], device: str | None) -> Naming:
    """Every name and attribute-free identifier of the kept code is the notebook's."""
    taken, hidden = set[str](), set[str]()
    loads = {"from_snapshot"} & set(run.program.needs)  # which stands in the cells already, and is the script's own
    for statement in run.kept:
        for node in walk(statement.node):
            if isinstance(node, ast.Name):
                taken.add(node.id)
            elif isinstance(node, ast.arg):
                taken.add(node.arg)
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                taken.add(node.name)
            elif isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
                hidden |= HIDES.get(node.module or "", frozenset())
            elif isinstance(node, ast.alias):
                taken.add((node.asname or node.name).split(".")[0])
    return Naming(frozenset(taken | hidden) - loads, run.flow.imports, own, frozenset(hidden), device)
