"""What there is to show of a run beside its state, and does not change with it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from nbddp.diagnostics import Diagnostic
from nbddp.run.state.state import RunState


def _as_reported(_state: RunState) -> str:
    return ""


@dataclass(frozen=True)
class Subject:
    """`explain` tells a failure in cells and lines, for who can map it; "" leaves the traceback as it is. `locate` puts
    cells and lines into the text of a stack."""

    script: str = ""
    diagnostics: tuple[Diagnostic, ...] = ()
    explain: Callable[[RunState], str] = _as_reported
    locate: Callable[[str], str] = str
    scalars: str = ""  # what TensorBoard reads

    def explanation(self, state: RunState) -> str:
        """Asked for only where there is a failure."""
        return self.explain(state) if state.failures else ""
