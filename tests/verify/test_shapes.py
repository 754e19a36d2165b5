"""Notebooks of many shapes: N processes agree with one where the mathematics says so; else the cause is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from nbddp.verify import verify

NOTEBOOKS = Path(__file__).parents[1] / "e2e" / "notebooks"

SAME = [
    ("plain_loop", 3),
    ("autoencoder", 2),
    ("transformer_lm", 2),
    ("forward_bypass", 2),  # metric learning: the loss is a method of the model
    ("grad_accumulation", 2),
    ("plateau", 2),
    ("amp_off", 2),
    ("function_loop", 3),  # a CNN
]
ALIKE = [
    ("batchnorm_print_eval", 2, ["batchnorm"]),
    ("dropout", 3, ["dropout"]),
    ("gan", 2, ["draws"]),
    ("amp_scaler", 2, ["autocast"]),
    ("uneven_data", 2, ["uneven"]),
    ("class_weights", 2, ["weights"]),
]


@pytest.mark.parametrize(("name", "nproc"), SAME)
def test_processes_that_must_agree_do(name, nproc, helper):
    report = verify(NOTEBOOKS / f"{name}.py", nproc=nproc, helper=helper)
    assert (report.verdict, report.status) == ("same", 0), report
    assert len(report.rows) >= 10
    assert report.comparison.apart <= 1e-5


@pytest.mark.parametrize(("name", "nproc", "causes"), ALIKE)
def test_where_they_need_not_the_construct_is_named(name, nproc, causes, helper):
    report = verify(NOTEBOOKS / f"{name}.py", nproc=nproc, helper=helper)
    assert (report.verdict, report.status) == ("alike", 1), report
    assert [cause.name for cause in report.causes] == causes, report
    assert all("becomes" in cause.evidence for cause in report.causes), report
