"""Which curves a person gets to see."""

from __future__ import annotations

from nbddp.run.state.curve import Curve
from nbddp.run.state.shown import latest_values, shown_curves
from nbddp.run.state.state import RunState


def state(*curves: Curve, sums: tuple[str, ...] = ()) -> RunState:
    return RunState(curves={f"{curve.source}:{curve.name}": curve for curve in curves}, sums=frozenset(sums))


def curve(name: str, source: str, *values: float) -> Curve:
    found = Curve(name, source, "step" if source == "step" else "epoch")
    for at, value in enumerate(values):
        found = found.add(at, value)
    return found


def test_what_is_printed_and_accumulated_is_drawn_once():
    accumulated, printed = curve("val_loss", "epoch", 1), curve("val loss", "printed", 1)
    seen = shown_curves(state(accumulated, printed, curve("lr", "printed", 0.1), curve("none", "step")))
    assert list(seen) == ["epoch:val_loss", "printed:lr"]


def test_sums_give_way_to_what_is_printed_or_divided():
    total, right = curve("total_loss", "epoch", 30, 20), curve("correct", "epoch", 300, 320)
    printed, kept = curve("loss", "printed", 0.3, 0.2), curve("accuracies", "epoch", 0.8, 0.9)
    step = curve("loss", "step", 2, 1)
    sums = ("total_loss", "correct")
    assert list(shown_curves(state(step, total, right, printed, sums=sums))) == ["step:loss", "printed:loss"]
    assert list(shown_curves(state(step, total, right, kept, sums=sums))) == ["step:loss", "epoch:accuracies"]
    assert list(shown_curves(state(step, total, right, sums=sums))) == [
        "step:loss",
        "epoch:total_loss",
        "epoch:correct",
    ]


def test_a_number_that_is_kept_and_printed_under_another_name_is_drawn_as_printed():
    kept, other = curve("losses", "epoch", 0.31274, 0.21), curve("accuracies", "epoch", 0.5, 0.7)
    printed = curve("loss", "printed", 0.3127)
    assert list(shown_curves(state(kept, other, printed))) == ["epoch:accuracies", "printed:loss"]


def test_the_latest_are_those_that_are_shown():
    total, printed = curve("total", "epoch", 30, 20), curve("loss", "printed", 0.3, 0.2)
    assert latest_values(state(curve("loss", "step", 2, 1), total, printed, sums=("total",))) == {"loss": 0.2}
