"""A notebook and its script, run under one setting; and again with numbers of 64 bits, where they come out apart."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from nbddp.diagnostics import Diagnostic
from nbddp.export import Script

from .judge import differences, told_of
from .runs import Run, Setting, run_plain, run_script
from .shorten import Place

ROUNDED = 1e-6  # relative: of losses in 64 bits, whose own rounding is a billionth of that


@dataclass(frozen=True)
class Pair:
    path: Path
    notebook: dict[str, Any]
    script: Script
    setting: Setting

    def cut(self, steps: int) -> Pair:
        """After so many steps: a run that takes too long is compared as far as it comes."""
        return replace(self, setting=replace(self.setting, steps=steps, seconds=1.5 * self.setting.seconds))

    def run(self, nproc: int) -> Run:
        return run_script(self.script, nproc, self.path, self.setting)

    def only_rounding(self, nproc: int) -> str:
        """Shares are added up in another order, and a training may make that grow until the numbers are others.

        A defect stays what it is in 64 bits; rounding becomes a billionth of itself.
        """
        double = replace(self, setting=replace(self.setting, double=True))
        plain = run_plain(self.notebook, self.path, wanted(self.script), double.setting)
        run = double.run(nproc)
        word, _ = differences(plain, run, nproc, told_of(self.script.diagnostics))
        pairs = list(zip(plain.losses, run.losses, strict=False))
        if word != "agrees" or not pairs or not all(abs(a - b) <= ROUNDED * max(abs(a), abs(b)) for a, b in pairs):
            return ""
        return "rounding makes them differ: in 64 bits they are the same"


def wanted(exported: Script | tuple[Diagnostic, ...]) -> list[Place] | None:
    """The statements that the script keeps; None for all."""
    if not isinstance(exported, Script):
        return None
    program = exported.plan.program
    return [(s.cell.number, program.place(s.node.lineno)[1], s.node.col_offset) for s in exported.plan.kept]
