"""From where the script of a live notebook starts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from nbddp.analysis import Plan
from nbddp.analysis.disk import folder_changes
from nbddp.magics.executed.session import Session
from nbddp.run.start.command import Origin


def origin_of(session: Session, plan: Plan) -> Origin:
    """The kernel as it is; but where cells have gone to another folder the script goes too, from where they began."""
    here, visited = Origin.here(), session.namespace.get("_dh")
    if not visited or not any(folder_changes(plan)) or not Path(visited[0]).is_dir():
        return here
    return replace(here, cwd=Path(visited[0]))
