"""How a training gets on, folded: launch, ranks, epochs, steps; how fast, and how long it will take."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from nbddp.run.state.curve import Curve
from nbddp.run.state.jobs import begun, resumed
from nbddp.run.state.state import Event, Fold, Rank, RunState, changed
from nbddp.run.state.values import not_finite

SMOOTHING = 5.0  # seconds over which the rate is averaged
MEMORY, BUSY = "GPU memory, GiB", "GPU use, %"
RECENT, ENOUGH = 9, 3  # epochs whose median says how long another one takes


def _launch(state: RunState, event: Event) -> RunState:
    """The run was started."""
    state, time = begun(state), float(event["time"])
    return changed(
        state,
        phase="starting" if state.phase == "queued" else state.phase,
        name=str(event.get("name", "")),
        start=str(event.get("start", "")),
        why_cold=str(event.get("why_cold", "")),
        pid=event.get("pid"),
        nproc=event.get("nproc"),
        sums=frozenset(map(str, event.get("sums") or ())),
        started=state.attempts[0].began if state.attempts else time,
        attempt_began=time,
    )


def _rank(state: RunState, event: Event) -> RunState:
    """A training process is there, and has its device."""
    rank = Rank(
        rank=int(event["rank"]),
        pid=event.get("pid"),
        device=str(event.get("device", "")),
        device_name=str(event.get("device_name", "")),
        time=float(event["time"]),
        host=str(event.get("host", "")),
    )
    return changed(state, ranks={**state.ranks, rank.rank: rank}, world_size=event.get("world_size", state.world_size))


def _epoch(state: RunState, event: Event) -> RunState:
    """Rank 0 begins an epoch."""
    if event["rank"] != 0:
        return state
    if state.resuming:
        state = resumed(state, int(event["epoch"]))
    began, now = state.epoch_began, float(event["time"])
    return changed(
        state,
        epoch_seconds=state.epoch_seconds if began is None else (*state.epoch_seconds, now - began)[-RECENT:],
        phase="training" if state.phase == "starting" else state.phase,
        epoch=int(event["epoch"]),
        epochs=event.get("epochs"),
        batch=None,
        epoch_began=now,
    )


def _step(state: RunState, event: Event) -> RunState:
    """A rank has taken an optimizer step; reported at most ten times a second."""
    number, time = int(event["rank"]), float(event["time"])
    before = state.ranks.get(number) or Rank(number)
    samples = event.get("samples")
    ends = samples is not None and event.get("batch") == event.get("batches")
    rank = changed(
        before,
        rate=_rate(before, int(event["step"]), time),
        samples=before.samples if samples is None else max(before.samples or 0, samples),
        last_samples=samples if ends else before.last_samples,
        phase="training",
        step=int(event["step"]),
        epoch=event.get("epoch"),
        time=time,
        memory=event.get("memory", before.memory),
        place=event.get("place") or before.place,
    )
    state = changed(state, ranks={**state.ranks, number: rank}, hang=None)
    values = event.get("values") or {}
    state = not_finite(state, values, event)
    return _main_step(state, event, values, rank, time) if number == 0 else state


def _main_step(state: RunState, event: Event, values: Mapping[str, Any], rank: Rank, time: float) -> RunState:
    """Rank 0 speaks for the run: the others take the same steps."""
    step = int(event["step"])
    curves = dict(state.curves)
    if state.attempts and step < state.step:  # a later attempt goes on from an earlier step
        curves = {key: curve.before(step) if curve.x == "step" else curve for key, curve in curves.items()}
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
        rate=rank.rate,
        values={**state.values, **values},
        curves=curves,
    )
    if state.first_step is None:
        state = changed(state, first_step=time, progress_at_first_step=state.progress or 0.0)
    return changed(state, eta=_eta(state, time))


def _rate(before: Rank, step: int, time: float) -> float | None:
    """Steps a second, recent ones counting more; the time of an evaluation in between is part of it."""
    if before.time is None or before.step == 0:
        return before.rate
    seconds, steps = time - before.time, step - before.step
    if seconds <= 0 or steps <= 0:
        return before.rate
    weight = 1.0 - math.exp(-seconds / SMOOTHING)
    now = steps / seconds
    return now if before.rate is None else before.rate + weight * (now - before.rate)


def _eta(state: RunState, time: float) -> float | None:
    """By the share done since the first step, so that evaluation and checkpoints are counted in; after some epochs by
    their median, which one that had to wait for something does not move."""
    done = state.progress
    if done is None or state.first_step is None:
        return None
    if state.epochs and len(state.epoch_seconds) >= ENOUGH:
        return sorted(state.epoch_seconds)[len(state.epoch_seconds) // 2] * state.epochs * (1.0 - done)
    gained = done - state.progress_at_first_step
    if gained <= 0 or time <= state.first_step:
        return None
    return (time - state.first_step) * (1.0 - done) / gained


def _gpus(state: RunState, event: Event) -> RunState:
    """How full and how busy the ranks' GPUs are; what one does not tell stays unknown."""
    ranks = dict(state.ranks)
    for name, seen in event["gpus"].items():
        if (number := int(name)) in ranks:
            told = {key: None if seen.get(key) is None else int(seen[key]) for key in ("used", "total", "busy")}
            ranks[number] = changed(ranks[number], **told)
            state = _gauged(state, number, float(event["time"]), told["used"], told["busy"])
    return changed(state, ranks=ranks)


def _gauged(state: RunState, rank: int, time: float, used: int | None, busy: int | None) -> RunState:
    gauges = dict(state.gauges)
    for name, value in ((MEMORY, None if used is None else used / (1 << 30)), (BUSY, busy)):
        if value is not None:
            curve = gauges.get(f"{name} {rank}") or Curve(name, f"rank {rank}", "second")
            gauges[f"{name} {rank}"] = curve.add(time - (state.started or time), value)
    return changed(state, gauges=gauges)


PROGRESS_FOLDS: Mapping[str, Fold] = {
    "launch": _launch,
    "rank": _rank,
    "epoch": _epoch,
    "step": _step,
    "gpus": _gpus,
}
