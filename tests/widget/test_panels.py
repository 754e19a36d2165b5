"""Which curves share a chart."""

from __future__ import annotations

import pytest

from nbddp.run.state.curve import Curve
from nbddp.widget.panels import panels_of


def panels(*curves: tuple[str, float]) -> list[str]:
    return list(panels_of({name: Curve(name, "epoch", "epoch").add(0, value) for name, value in curves}).values())


@pytest.mark.parametrize("other", ["val_loss", "loss/val", "validation loss", "losses", "loss_test_avg"])
def test_one_measure_of_training_and_validation_is_one_chart(other):
    assert panels(("train_loss", 1.0), (other, 1.4)) == ["loss by epoch"] * 2


def test_measures_over_other_axes_or_of_other_kinds_have_charts_of_their_own():
    by_step = Curve("loss", "step", "step").add(1, 1.0)
    by_epoch = Curve("loss", "epoch", "epoch").add(1, 1.0)
    assert list(panels_of({"a": by_step, "b": by_epoch}).values()) == ["loss by step", "loss by epoch"]
    assert panels(("val_acc", 0.5), ("Accuracy", 0.6), ("lr", 0.5)) == ["accuracy by epoch"] * 2 + ["lr by epoch"]


def test_no_axis_has_numbers_of_different_magnitudes():
    found = panels(("train_acc", 0.9), ("val_acc", 88.0), ("test_acc", 0.8), ("acc", 91.0))
    assert found == ["accuracy by epoch", "accuracy by epoch (2)"] * 2
    assert panels(("zero loss", 0.0), ("no loss", 0.0), ("loss", 1.0)) == ["loss by epoch"] * 2 + ["loss by epoch (2)"]


def test_what_is_told_of_gpus_is_one_chart_for_all_of_them():
    gauges = {str(n): Curve("GPU use, %", f"rank {n}", "second").add(1, busy) for n, busy in enumerate((0.0, 99.0))}
    assert list(panels_of(gauges).values()) == ["use by second"] * 2
