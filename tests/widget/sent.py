"""What the widget sends to a page, kept instead of sent."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from comm.base_comm import BaseComm

from nbddp.run.state.shown import drawn_curves
from nbddp.run.state.state import RunState
from nbddp.widget.live import RunWidget
from nbddp.widget.subject import Subject
from nbddp.widget.view import facts, series

SUBJECT = Subject("script.py")


class Recorded(BaseComm):
    """Stands for ipykernel's; like that of some versions it would send replies elsewhere."""

    published: list[tuple[str, Any]]

    def publish_msg(self, msg_type: str, data: Any = None, **_rest: Any) -> None:
        self.__dict__.setdefault("published", []).append((msg_type, json.loads(json.dumps(data, allow_nan=False))))

    def _reply_subshell_for(self, _data: Any, _default: Any) -> str:
        return "busy"

    def updates(self) -> list[dict[str, Any]]:
        return [data["state"] for kind, data in self.published if kind == "comm_msg" and data["method"] == "update"]


def update(
    widget: RunWidget, state: RunState, lines: Sequence[str] = ("a",), *, now: float = 0.0, subject: Subject = SUBJECT
) -> dict[str, Any]:
    """Show this state; the message that goes to the page."""
    shown = facts(state, subject, state.updated)
    widget.show(shown, series(drawn_curves(state)), {0: lines, 1: ["of rank 1"]}, now, last=state.over)
    sent: dict[str, Any] = widget.comm.updates()[-1]
    return sent
