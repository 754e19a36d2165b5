"""A run's state as a small JSON value: the only thing that the page draws, whoever sends it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any

from nbddp.run.state.curve import Curve
from nbddp.run.state.shown import drawn_curves
from nbddp.run.state.state import Rank, RunState
from nbddp.run.state.words import load
from nbddp.widget.notices import for_page, notices
from nbddp.widget.panels import panels_of
from nbddp.widget.subject import Subject

MOST_SERIES = 24
MOST_LINE = 200

LABELS: Mapping[str, tuple[str, str]] = {  # phase: words, and the colour that goes with them
    "queued": ("Queued", "still"),
    "starting": ("Starting", "busy"),
    "training": ("Training", "busy"),
    "finishing-epoch": ("Finishing this epoch", "busy"),
    "stopping": ("Stopping", "busy"),
    "done": ("Done", "good"),
    "failed": ("Failed", "bad"),
    "stopped": ("Stopped", "still"),
    "killed": ("Killed", "bad"),
    "lost": ("Lost", "bad"),
}


def snapshot(
    state: RunState, subject: Subject, *, now: float | None = None, logs: Mapping[int, Sequence[str]] | None = None
) -> dict[str, Any]:
    """All that a page needs, complete in itself. `logs` holds settled lines (`nbddp.widget.terminal`) by rank."""
    return {
        **facts(state, subject, now),
        "series": series(drawn_curves(state)),
        "logs": {str(rank): {"first": 0, "lines": list(lines)} for rank, lines in (logs or {}).items()},
    }


def facts(state: RunState, subject: Subject, now: float | None = None) -> dict[str, Any]:
    """All but curves and logs: small enough to be sent whole ten times a second."""
    label, tone = LABELS.get(state.phase, (state.phase, "still"))
    return {
        "format": 1,
        "phase": state.phase,
        "label": label,
        "tone": tone,
        "over": state.over,
        "stop": state.stop,
        "name": state.name,
        "start": state.start,
        "script": home_relative(subject.script),
        "scalars": home_relative(subject.scalars),
        "links": [{"name": name, "address": address} for address, name in state.links.items()],
        "now": now if now is not None else state.updated,
        "started": state.started,
        "ended": state.ended if state.ended is not None else (state.updated if state.over else None),
        "updated": state.updated,
        "world_size": state.world_size or state.nproc,
        **{name: _finite(getattr(state, name)) for name in NUMBERS},
        "average": _finite(state.average_rate) if state.over else None,
        "ranks": [_rank(rank, _phase(rank, state), state) for rank in _ranks(state)],
        "notices": [for_page(one) for one in notices(state, subject)],
    }


NUMBERS = ("epoch", "epochs", "batch", "batches", "step", "steps", "rate", "samples_rate", "eta", "progress")


def series(curves: Mapping[str, Curve]) -> dict[str, dict[str, Any]]:
    """What is drawn of each curve. A saved notebook sorts by key: each carries its place among them."""
    drawn = dict(list(curves.items())[:MOST_SERIES])
    panels = panels_of(drawn)
    return {key: {"at": at, "panel": panels[key], **_series(curve)} for at, (key, curve) in enumerate(drawn.items())}


def home_relative(path: str) -> str:
    """As a person would write it, and as Jupyter names its root folder to the page."""
    try:
        return str(PurePath("~") / PurePath(path).relative_to(Path.home()))
    except (ValueError, RuntimeError):
        return path


def _series(curve: Curve) -> dict[str, Any]:
    """Six digits are more than a pixel can show. An epoch is counted from 1 wherever a person reads it."""
    from_zero = curve.x == "epoch" and curve.points[0][0] < 1.0
    shift = 1.0 if from_zero else 0.0
    points = [[x + shift, float(f"{y:.6g}")] for x, y in curve.points]
    return {"name": curve.name, "source": curve.source, "x": curve.x, "points": points}


def _ranks(state: RunState) -> list[Rank]:
    """Those still to come have their place from the start, so that the page need not move when they are there."""
    expected = range(state.world_size or state.nproc or 1)
    return [state.ranks.get(number) or Rank(number) for number in sorted({*expected, *state.ranks})]


def _phase(rank: Rank, state: RunState) -> str:
    """A rank that went down with another is not the one to look at, and one that was ended had no time to say so."""
    victim = any(failure.victim and failure.rank == rank.rank for failure in state.failures)
    ended = state.over and rank.phase in {"starting", "training"}
    return "ended" if victim or ended else rank.phase


def _rank(rank: Rank, phase: str, state: RunState) -> dict[str, Any]:
    samples = rank.samples_per_step(state.batches)
    several = len({other.host for other in state.ranks.values()}) > 1
    return {
        "rank": rank.rank,
        "phase": phase,
        "device": f"{rank.host} {rank.device}".strip() if several else rank.device,
        "device_name": rank.device_name,
        "step": rank.step,
        "samples_rate": samples and rank.rate and _finite(samples * rank.rate),
        "memory": rank.memory,
        "load": "" if rank.used is None else load(rank),
        "line": rank.line[:MOST_LINE],
    }


def _finite(value: Any) -> Any:
    """JSON has no word for infinity, and a browser refuses the whole message for one."""
    return None if isinstance(value, float) and not math.isfinite(value) else value
