"""Which curves share a chart: those of one measure over one axis, of one magnitude."""

from __future__ import annotations

import re
from collections.abc import Mapping

from nbddp.run.state.curve import Curve
from nbddp.run.state.printed import METRIC

FACTOR = 10.0  # between the largest values of two curves: beyond it the smaller one would lie flat on the axis
SHORT = {"acc": "accuracy", "accuracies": "accuracy", "losses": "loss", "err": "error", "ppl": "perplexity"}


def panels_of(curves: Mapping[str, Curve]) -> dict[str, str]:
    """The name of each curve's chart: train_loss and val_loss by epoch go together; a share and a per cent do not.

    What is told of GPUs by the second is of one kind on all of them, idle or not.
    """
    found: dict[str, str] = {}
    sizes: dict[str, float] = {}  # of the first curve of each chart
    for key, curve in curves.items():
        size = max(abs(y) for _, y in curve.points)
        name, number = f"{_measure(curve.name)} by {curve.x}", 1
        while (panel := name if number == 1 else f"{name} ({number})") in sizes and not (
            curve.x == "second" or _near(size, sizes[panel])
        ):
            number += 1
        sizes.setdefault(panel, size)
        found[key] = panel
    return found


def _near(one: float, other: float) -> bool:
    return one == other or max(one, other) <= FACTOR * min(one, other)


def _measure(name: str) -> str:
    """The last of its words that is one: "loss" of "train_loss" and of "loss/val"."""
    words = re.findall(r"[a-z0-9]+", name.lower()) or [""]
    measures = [word for word in words if METRIC.search(word)]
    word: str = (measures or words)[-1]
    return SHORT.get(word, word)
