"""Which of a run's curves are for people: what the notebook prints or divides, and no number twice."""

from __future__ import annotations

import math

from nbddp.run.state.curve import Curve
from nbddp.run.state.state import RunState

SAME = 0.005  # so near to each other, printed digits and the number that they are of are one line in a picture


def shown_curves(state: RunState) -> dict[str, Curve]:
    """Those that have points, by their keys."""
    curves = {key: curve for key, curve in state.curves.items() if curve.points}
    told = {key: curve for key, curve in curves.items() if not _is_sum(state, curve)}
    if any(curve.source != "step" for curve in told.values()):  # else sums are better than nothing
        curves = told
    accumulated = {plain_name(curve.name) for curve in curves.values() if curve.source == "epoch"}
    printed = [curve for curve in curves.values() if curve.source == "printed" and curve.x == "epoch"]
    return {key: curve for key, curve in curves.items() if not _is_second(curve, accumulated, printed)}


def drawn_curves(state: RunState) -> dict[str, Curve]:
    """What a live view draws: behind the numbers of the training those of the GPUs."""
    return {**shown_curves(state), **state.gauges}


def plain_name(name: str) -> str:
    return name.lower().replace("_", " ").replace("-", " ")


def _is_sum(state: RunState, curve: Curve) -> bool:
    return curve.source == "epoch" and curve.name in state.sums


def _is_second(curve: Curve, accumulated: set[str], printed: list[Curve]) -> bool:
    """A printed number that has the name of a reported one; or a reported one that is printed under another name."""
    if curve.source == "printed":
        return plain_name(curve.name) in accumulated
    others = [one for one in printed if plain_name(one.name) not in accumulated]
    return curve.source == "epoch" and any(_alike(curve, other) for other in others)


def _alike(one: Curve, other: Curve) -> bool:
    pairs = list(zip(one.points, other.points, strict=False))  # the line of the last epoch may still be to come
    return bool(pairs) and all(math.isclose(a[1], b[1], rel_tol=SAME) for a, b in pairs)


def latest_values(state: RunState) -> dict[str, float]:
    """Those that say how good the model is by now: of the last epoch before those of the last step."""
    values: dict[str, float] = {}
    for curve in sorted(
        shown_curves(state).values(), key=lambda curve: ("epoch", "printed", "step").index(curve.source)
    ):
        values.setdefault(curve.name, curve.points[-1][1])
    return values
