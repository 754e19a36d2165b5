"""What a training says, folded: metrics, printed lines, warnings, values that are no finite numbers, files."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from nbddp.run.state.curve import Curve
from nbddp.run.state.links import MOST, link_in
from nbddp.run.state.printed import plain, read_line
from nbddp.run.state.state import Event, Fold, NotANumber, Notice, Rank, RunState, changed

MOST_WARNINGS = 100
MOST_ROWS = 10_000  # of the table of printed lines
LONGEST_LINE = 500


def _metrics(state: RunState, event: Event) -> RunState:
    """One row of the history. A loop that sums up nothing gets the last reported value of each name."""
    epoch, values = int(event["epoch"]), dict(event.get("values") or {})
    row: dict[str, float] = {"epoch": epoch, **(values or state.values)}
    if state.epoch_began is not None:
        row["seconds"] = float(event["time"]) - state.epoch_began
    curves = dict(state.curves)
    for name, value in values.items():
        key = f"epoch:{name}"
        curves[key] = (curves.get(key) or Curve(name, "epoch", "epoch")).add(epoch, float(value))
    state = changed(state, history=(*state.history, row), curves=curves)
    return not_finite(state, values, event)


def not_finite(state: RunState, values: Mapping[str, Any], event: Event) -> RunState:
    if state.nan is not None:
        return state
    for name, value in values.items():
        if not math.isfinite(value):
            return changed(state, nan=NotANumber(name, event.get("rank"), event.get("epoch"), event.get("step")))
    return state


def _nan(state: RunState, event: Event) -> RunState:
    """A value is no finite number; the first is kept."""
    if state.nan is not None:
        return state
    name = str(event.get("name", "loss"))
    return changed(state, nan=NotANumber(name, event.get("rank"), event.get("epoch"), event.get("step")))


def _checkpoint(state: RunState, event: Event) -> RunState:
    """A checkpoint is complete."""
    return changed(state, checkpoint=str(event["path"]))


def _result(state: RunState, event: Event) -> RunState:
    """The result is complete."""
    return changed(state, result=str(event["path"]))


def _warning(state: RunState, event: Event) -> RunState:
    """A rank warned; one that is repeated is counted."""
    message = str(event["message"])
    for place, notice in enumerate(state.warnings):
        if notice.message == message and notice.rank == event.get("rank"):
            again = changed(notice, count=notice.count + 1)
            return changed(state, warnings=(*state.warnings[:place], again, *state.warnings[place + 1 :]))
    if len(state.warnings) >= MOST_WARNINGS:
        return state
    return changed(state, warnings=(*state.warnings, Notice(event.get("rank"), message, event.get("time"))))


def _unreadable(state: RunState, event: Event) -> RunState:
    """A line that made no sense."""
    state = _warning(state, {"rank": None, "time": None, "message": str(event["message"])})
    return changed(state, unreadable=state.unreadable + 1)


def _line(state: RunState, event: Event) -> RunState:
    """A line of a rank's log. These are no part of events.jsonl: whoever reads the logs folds them in."""
    number, text = int(event["rank"]), plain(str(event["text"])[:LONGEST_LINE])
    if text.strip():
        before = state.ranks.get(number) or Rank(number)
        state = changed(state, ranks={**state.ranks, number: changed(before, line=text.strip())})
    return _numbers(_link(state, text), str(event["text"])) if number == 0 else state


def _link(state: RunState, text: str) -> RunState:
    """Only rank 0 speaks to a tracker; what is said again is there already."""
    found = link_in(text)
    if found is None or len(state.links) >= MOST:
        return state
    return changed(state, links={**state.links, found[1]: found[0]})


def _numbers(state: RunState, text: str) -> RunState:
    """What rank 0 prints becomes curves, and a table where the line names an epoch."""
    printed = read_line(text)
    if printed is None or not printed.values:
        return state
    x, place = printed.place
    curves = dict(state.curves)
    for name, value in printed.values.items():
        key = f"printed:{name}" if x == "epoch" else f"printed:{name} by {x}"
        curve = curves.get(key) or Curve(name, "printed", x)
        curves[key] = curve.add(curve.seen + 1.0 if place is None else place, value)
    state = not_finite(changed(state, curves=curves), printed.values, {"rank": 0, "epoch": state.epoch})
    if printed.epoch is None or printed.batch is not None:
        return state
    rows = state.printed[-MOST_ROWS:]
    same = bool(rows) and rows[-1]["epoch"] == printed.epoch
    before, row = (rows[:-1], rows[-1]) if same else (rows, {"epoch": printed.epoch})
    return changed(state, printed=(*before, {**row, **printed.values}))


VALUE_FOLDS: Mapping[str, Fold] = {
    "metrics": _metrics,
    "nan": _nan,
    "checkpoint": _checkpoint,
    "result": _result,
    "warning": _warning,
    "unreadable": _unreadable,
    "line": _line,
}
