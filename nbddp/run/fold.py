"""The next state of a run, from the last one and one event: no clock, no disk, no surprise.

`fold` never raises: an event that makes no sense (another version's, a half-written line's) is counted and left out,
since whoever watches a training of many hours wants to go on watching it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from nbddp.run.curve import Curve
from nbddp.run.endings import EXIT_FOLDS
from nbddp.run.printed import plain, read_line
from nbddp.run.state import NotANumber, Notice, Rank, RunState, changed

Event = Mapping[str, Any]
SMOOTHING = 5.0  # seconds over which the rate is averaged
MOST_WARNINGS = 100
MOST_ROWS = 10_000  # of the table of printed lines
LONGEST_LINE = 500


def fold(state: RunState, event: Event) -> RunState:
    """The state after this event."""
    name = event.get("event")
    step = FOLDS.get(name) if isinstance(name, str) else None
    if step is None:
        return state
    try:
        after = step(state, event)
        time = event.get("time")
        return after if time is None else changed(after, updated=max(float(time), state.updated or 0.0))
    except (TypeError, ValueError, KeyError, AttributeError, ArithmeticError):
        return changed(state, unreadable=state.unreadable + 1)


def fold_all(state: RunState, events: Iterable[Event]) -> RunState:
    """The state after all of these."""
    for event in events:
        state = fold(state, event)
    return state


def _launch(state: RunState, event: Event) -> RunState:
    return changed(
        state,
        name=str(event.get("name", "")),
        start=str(event.get("start", "")),
        why_cold=str(event.get("why_cold", "")),
        pid=event.get("pid"),
        nproc=event.get("nproc"),
        started=float(event["time"]),
    )


def _rank(state: RunState, event: Event) -> RunState:
    rank = Rank(
        rank=int(event["rank"]),
        pid=event.get("pid"),
        device=str(event.get("device", "")),
        device_name=str(event.get("device_name", "")),
        time=float(event["time"]),
    )
    return changed(state, ranks={**state.ranks, rank.rank: rank}, world_size=event.get("world_size", state.world_size))


def _epoch(state: RunState, event: Event) -> RunState:
    if event["rank"] != 0:
        return state
    return changed(
        state,
        phase="training" if state.phase == "starting" else state.phase,
        epoch=int(event["epoch"]),
        epochs=event.get("epochs"),
        batch=None,
        epoch_began=float(event["time"]),
    )


def _step(state: RunState, event: Event) -> RunState:
    number, time = int(event["rank"]), float(event["time"])
    before = state.ranks.get(number) or Rank(number)
    rank = changed(
        before,
        phase="training",
        step=int(event["step"]),
        epoch=event.get("epoch"),
        time=time,
        memory=event.get("memory", before.memory),
    )
    state = changed(state, ranks={**state.ranks, number: rank}, hang=None)
    values = event.get("values") or {}
    state = _not_finite(state, values, event)
    return _main_step(state, event, values, before, time) if number == 0 else state


def _main_step(state: RunState, event: Event, values: Mapping[str, Any], before: Rank, time: float) -> RunState:
    """Rank 0 speaks for the run: the others take the same steps."""
    step = int(event["step"])
    curves = dict(state.curves)
    for name, value in values.items():
        key = f"step:{name}"
        curves[key] = (curves.get(key) or Curve(name, "step", "step")).add(step, float(value))
    state = changed(
        state,
        phase="training" if state.phase == "starting" else state.phase,
        step=step,
        steps=event.get("steps", state.steps),
        epoch=event.get("epoch", state.epoch),
        batch=event.get("batch"),
        batches=event.get("batches"),
        rate=_rate(state, before, step, time),
        values={**state.values, **values},
        curves=curves,
    )
    if state.first_step is None:
        state = changed(state, first_step=time, progress_at_first_step=state.progress or 0.0)
    return changed(state, eta=_eta(state, time))


def _rate(state: RunState, before: Rank, step: int, time: float) -> float | None:
    """Steps a second, recent ones counting more; the time of an evaluation in between is part of it."""
    if before.time is None or before.step == 0:
        return state.rate
    seconds, steps = time - before.time, step - before.step
    if seconds <= 0 or steps <= 0:
        return state.rate
    weight = 1.0 - math.exp(-seconds / SMOOTHING)
    now = steps / seconds
    return now if state.rate is None else state.rate + weight * (now - state.rate)


def _eta(state: RunState, time: float) -> float | None:
    """By the share done since the first step, so that evaluation and checkpoints are counted in."""
    done = state.progress
    if done is None or state.first_step is None:
        return None
    gained = done - state.progress_at_first_step
    if gained <= 0 or time <= state.first_step:
        return None
    return (time - state.first_step) * (1.0 - done) / gained


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
    return _not_finite(state, values, event)


def _not_finite(state: RunState, values: Mapping[str, Any], event: Event) -> RunState:
    if state.nan is not None:
        return state
    for name, value in values.items():
        if not math.isfinite(value):
            return changed(state, nan=NotANumber(name, event.get("rank"), event.get("epoch"), event.get("step")))
    return state


def _nan(state: RunState, event: Event) -> RunState:
    if state.nan is not None:
        return state
    name = str(event.get("name", "loss"))
    return changed(state, nan=NotANumber(name, event.get("rank"), event.get("epoch"), event.get("step")))


def _checkpoint(state: RunState, event: Event) -> RunState:
    return changed(state, checkpoint=str(event["path"]))


def _result(state: RunState, event: Event) -> RunState:
    return changed(state, result=str(event["path"]))


def _warning(state: RunState, event: Event) -> RunState:
    message = str(event["message"])
    for place, notice in enumerate(state.warnings):
        if notice.message == message and notice.rank == event.get("rank"):
            again = changed(notice, count=notice.count + 1)
            return changed(state, warnings=(*state.warnings[:place], again, *state.warnings[place + 1 :]))
    if len(state.warnings) >= MOST_WARNINGS:
        return state
    return changed(state, warnings=(*state.warnings, Notice(event.get("rank"), message, event.get("time"))))


def _unreadable(state: RunState, event: Event) -> RunState:
    state = _warning(state, {"rank": None, "time": None, "message": str(event["message"])})
    return changed(state, unreadable=state.unreadable + 1)


def _line(state: RunState, event: Event) -> RunState:
    """A line of a rank's log. These are no part of events.jsonl: whoever reads the logs folds them in."""
    number, text = int(event["rank"]), plain(str(event["text"])[:LONGEST_LINE])
    if text.strip():
        before = state.ranks.get(number) or Rank(number)
        state = changed(state, ranks={**state.ranks, number: changed(before, line=text.strip())})
    return _numbers(state, str(event["text"])) if number == 0 else state


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
    state = _not_finite(changed(state, curves=curves), printed.values, {"rank": 0, "epoch": state.epoch})
    if printed.epoch is None or printed.batch is not None:
        return state
    rows = state.printed[-MOST_ROWS:]
    same = bool(rows) and rows[-1]["epoch"] == printed.epoch
    before, row = (rows[:-1], rows[-1]) if same else (rows, {"epoch": printed.epoch})
    return changed(state, printed=(*before, {**row, **printed.values}))


FOLDS: Mapping[str, Callable[[RunState, Event], RunState]] = {
    "launch": _launch,
    "rank": _rank,
    "epoch": _epoch,
    "step": _step,
    "metrics": _metrics,
    "nan": _nan,
    "checkpoint": _checkpoint,
    "result": _result,
    "warning": _warning,
    "unreadable": _unreadable,
    "line": _line,
    **EXIT_FOLDS,
}
