"""A run in plain text: for a terminal, for a place without widgets, and beside the widget in the saved notebook."""

from __future__ import annotations

from collections.abc import Iterator

from nbddp.run.state.shown import latest_values
from nbddp.run.state.state import RunState
from nbddp.run.state.words import duration, rate
from nbddp.widget.notices import NOTHING, notices
from nbddp.widget.subject import Subject
from nbddp.widget.view import LABELS
from nbddp.widget.words import count, number

MOST_VALUES = 6


def line(state: RunState, now: float | None = None) -> str:
    """`digits · Training · epoch 3 of 10 · step 120 · loss 0.3127 · 512 steps/s · 0:12 left`."""
    parts = [state.name, LABELS.get(state.phase, (state.phase, ""))[0]]
    if state.epoch is not None:
        parts.append(f"epoch {state.epoch + 1}" + (f" of {state.epochs}" if state.epochs else ""))
    if state.step:
        parts.append(f"step {state.step:,}")
    parts += [f"{name} {number(value)}" for name, value in latest(state).items()]
    if not state.over:
        parts += [rate(state), f"{duration(state.eta)} left" if state.eta else ""]
    elapsed = state.elapsed(now if now is not None else (state.updated or 0.0))
    if state.over and elapsed is not None:
        ranks = state.world_size or state.nproc
        parts.append(duration(elapsed) + (f" on {count(ranks, 'rank')}" if ranks else ""))
    return " · ".join(part for part in parts if part)


def latest(state: RunState) -> dict[str, float]:
    """The values that say how good the model is by now: those of the last epoch before those of the last step."""
    return dict(list(latest_values(state).items())[:MOST_VALUES])


def changes(before: RunState | None, after: RunState, subject: Subject = NOTHING) -> Iterator[str]:
    """What is worth a line of its own between two states: a phase, an epoch, something to say."""
    if before is after:
        return
    said = {one["text"] for one in notices(before if before is not None else RunState(), subject)}
    for one in notices(after, subject):
        if one["text"] not in said:
            more = f"\n{one['more']}" if one["more"] and one["level"] == "error" else ""
            yield f"{one['level']}: {one['text']}{more}"
    if before is None or before.phase != after.phase or len(before.history) != len(after.history):
        yield line(after)
