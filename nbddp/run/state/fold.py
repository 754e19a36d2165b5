"""The next state of a run, from the last one and one event: no clock, no disk, no surprise.

`fold` never raises: an event that makes no sense (another version's, a half-written line's) is counted and left out,
since whoever watches a training of many hours wants to go on watching it.
"""

from __future__ import annotations

from collections.abc import Iterable

from nbddp.run.state.endings import ENDING_FOLDS
from nbddp.run.state.jobs import JOB_FOLDS
from nbddp.run.state.progress import PROGRESS_FOLDS
from nbddp.run.state.state import Event, Fold, RunState, changed
from nbddp.run.state.values import VALUE_FOLDS

FOLDS: dict[str, Fold] = {**PROGRESS_FOLDS, **VALUE_FOLDS, **ENDING_FOLDS, **JOB_FOLDS}


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
