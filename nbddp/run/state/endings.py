"""How a run ends, folded: failures and who caused them, stopping, exit, silence."""

from __future__ import annotations

import re
from collections.abc import Mapping

from nbddp.run.state.state import OVER, Event, Exit, Failure, Fold, Hang, RunState, changed

GRADES = ("epoch", "now", "kill")  # how to stop, from soft to hard

# What a rank says when another one has gone. Its own report may already call it a victim; another's script may not.
VICTIM = re.compile(
    r"(?i)connection (?:was )?(?:closed|reset|refused|aborted)|closed by peer|broken pipe|remote process exited"
    r"|socket timeout|peer .*(?:dropped|gone|disconnected)|ncclRemoteError|ncclSystemError|timed out waiting for"
    r"|(?:read|write) error \[.*\]"
)


def _error(state: RunState, event: Event) -> RunState:
    """A rank raised an exception."""
    rank = event.get("rank")
    kind, message = str(event.get("type", "")), str(event.get("message", ""))
    known = {failure.rank for failure in state.failures if not failure.died}
    if event.get("secondhand") and rank in known:
        return state
    place = state.ranks.get(rank) if rank is not None else None
    failure = Failure(
        rank=rank,
        type=kind,
        message=message,
        time=float(event["time"]),
        victim=bool(event.get("victim")) or is_victim(kind, message),
        text=str(event.get("text", "")),
        frames=tuple((str(f["file"]), int(f["line"]), str(f["function"])) for f in event.get("traceback") or ()),
        pid=event.get("pid", place.pid if place else None),
        epoch=place.epoch if place else None,
        step=place.step if place else None,
    )
    return _fail(state, failure, "failed")


def is_victim(kind: str, message: str) -> bool:
    """Whether such an error is what one rank gets when another has gone."""
    return kind not in {"FileNotFoundError", "ValueError", "KeyError", "TypeError"} and bool(VICTIM.search(message))


def _died(state: RunState, event: Event) -> RunState:
    """A process that was found dead. One that told its error before it went has told more."""
    rank = event.get("rank")
    if any(failure.rank == rank and failure.rank is not None for failure in state.failures):
        return state
    place = state.ranks.get(rank) if rank is not None else None
    failure = Failure(
        rank=rank,
        type=str(event.get("signal") or ""),
        message="" if event.get("signal") else f"it ended with status {event.get('status')}",
        time=float(event["time"]),
        pid=event.get("pid"),
        frames=((str(place.place[0]), int(place.place[1]), str(place.place[2])),) if place and place.place else (),
        died=True,
        epoch=place.epoch if place else None,
        step=place.step if place else None,
    )
    return _fail(state, failure, "killed" if event.get("signal") else "failed")


def _fail(state: RunState, failure: Failure, phase: str) -> RunState:
    ranks = dict(state.ranks)
    if failure.rank in ranks:
        ranks[failure.rank] = changed(ranks[failure.rank], phase=phase)
    return changed(state, failures=(*state.failures, failure), ranks=ranks)


def _end(state: RunState, event: Event) -> RunState:
    """A rank has come to its end."""
    number = int(event["rank"])
    if number not in state.ranks:
        return state
    return changed(state, ranks={**state.ranks, number: changed(state.ranks[number], phase="done")})


def _stopping(state: RunState, event: Event) -> RunState:
    """Somebody asked for a stop. A harder grade takes over from a softer one, never the other way round."""
    grade = str(event["grade"])
    if GRADES.index(grade) <= (GRADES.index(state.stop) if state.stop else -1):
        return state
    if state.over:
        return changed(state, stop=grade)
    return changed(state, stop=grade, phase="finishing-epoch" if grade == "epoch" else "stopping")


def _hang(state: RunState, event: Event) -> RunState:
    """Nothing was heard for a while."""
    stacks = {str(rank): str(text) for rank, text in (event.get("stacks") or {}).items()}
    return changed(state, hang=Hang(float(event["time"]), float(event.get("quiet", 0.0)), stacks))


def _heard(state: RunState, event: Event) -> RunState:  # noqa: ARG001 -- that it came is all that it says
    """After a silence, something was heard."""
    return changed(state, hang=None)


def _exit(state: RunState, event: Event) -> RunState:
    """All processes have ended."""
    if event.get("forced") and state.exit is not None:
        return state  # how it ended has been said already
    how = Exit(event.get("status"), event.get("signal"), str(event.get("cause", "")))
    phase = str(event.get("phase")) if event.get("phase") in OVER else ending(state, how)  # as an engine has it
    return changed(state, exit=how, phase=phase, ended=float(event["time"]), hang=None, eta=None, lost="")


def ending(state: RunState, how: Exit) -> str:
    """The last phase. What was asked for decides before what the processes then said: a rank that is told to stop may
    well complain on its way out; but one that failed first has failed."""
    if how.status == 0:
        return "stopped" if state.stop == "epoch" else "done"
    if state.stop == "kill":
        return "killed"
    fell_by_itself = any(not failure.victim for failure in state.failures)
    if state.stop == "now" and not fell_by_itself:
        return "stopped"
    if how.signal is not None and not fell_by_itself:
        return "killed"
    return "failed"


def _lost(state: RunState, event: Event) -> RunState:
    """Nothing more will be heard of the run."""
    if state.exit is not None:
        return state
    return changed(state, phase="lost", lost=str(event["message"]), eta=None)


ENDING_FOLDS: Mapping[str, Fold] = {
    "error": _error,
    "died": _died,
    "end": _end,
    "stopping": _stopping,
    "hang": _hang,
    "heard": _heard,
    "exit": _exit,
    "lost": _lost,
}
