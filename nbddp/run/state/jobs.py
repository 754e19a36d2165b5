"""A run that is a job of an engine, folded: queued, put back into the queue, started again; what the engine says."""

from __future__ import annotations

from collections.abc import Mapping

from nbddp.run.state.state import Attempt, Event, Fold, Job, RunState, changed


def _queued(state: RunState, event: Event) -> RunState:
    """It was handed to the engine."""
    job = Job(str(event.get("engine", "")), str(event.get("job", "")), partition=str(event.get("partition") or ""))
    return changed(
        state,
        phase="queued",
        name=str(event.get("name", "")),
        nproc=event.get("nproc"),
        started=float(event["time"]),
        job=job,
    )


def _requeue(state: RunState, event: Event) -> RunState:
    """It goes back into the queue, to continue from its checkpoint."""
    if state.exit is not None:
        return state
    return _ended(state, float(event["time"]), str(event.get("why", "")))


def _ended(state: RunState, time: float | None, why: str) -> RunState:
    attempt = Attempt(state.attempt_began, time, why)
    return changed(
        state, phase="queued", attempts=(*state.attempts, attempt), attempt_began=None, hang=None, rate=None, eta=None
    )


def _job(state: RunState, event: Event) -> RunState:
    """What the engine says of it now. This is no part of the folder: whoever watches asks, and folds it in."""
    if state.job is None:
        return state
    fields = {name: str(event[name]) for name in ("reason", "partition", "nodes") if event.get(name) is not None}
    job = changed(state.job, **fields, silent=bool(event.get("silent")), waits=bool(event.get("waits")))
    if job != state.job:
        state = changed(state, job=job)
    if job.waits and state.attempt_began is not None and not state.over:  # ended by the engine, before it could say why
        return _ended(state, state.updated, "")
    return state


def begun(state: RunState) -> RunState:
    """A later attempt begins: what the last one came to stays, and nothing of its processes."""
    if state.attempt_began is not None:  # killed without a word, and started again before anybody had asked
        state = _ended(state, state.updated, "")
    if not state.attempts:
        return state
    return changed(
        state, failures=(), exit=None, lost="", ended=None, ranks={}, first_step=None, nan=None,
        epoch_began=None, epoch_seconds=(), resuming=True,
    )  # fmt: skip


def resumed(state: RunState, epoch: int) -> RunState:
    """The first epoch of a later attempt: what of it and of later ones was told before is told again."""
    rows = list(state.history)
    while rows and rows[-1]["epoch"] >= epoch:
        rows.pop()
    curves = {key: curve.before(epoch) if curve.source == "epoch" else curve for key, curve in state.curves.items()}
    return changed(state, resuming=False, history=tuple(rows), curves=curves)


JOB_FOLDS: Mapping[str, Fold] = {"queued": _queued, "requeue": _requeue, "job": _job}
