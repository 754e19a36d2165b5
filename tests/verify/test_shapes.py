"""Notebooks of many shapes: N processes agree with one where the mathematics says so; else the cause is named."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from nbddp.options import Options
from nbddp.verify import verify

SYNC = Options(sync_batchnorm=True)
NOTEBOOKS = Path(__file__).parents[1] / "e2e" / "notebooks"

ALL = os.environ.get("NBDDP_TEST_ALL") == "1"  # `make test-all`; else those that have most in common with the others
SAME = [
    ("plain_loop", 3),
    ("plateau", 2),
    ("forward_bypass", 2),  # metric learning: the loss is a method of the model
    *([("autoencoder", 3), ("transformer_lm", 2), ("grad_accumulation", 2), ("amp_off", 2)] if ALL else []),
    *([("function_loop", 3), ("triplet", 2), ("weighted_sampler", 2)] if ALL else []),  # the first is a CNN
]
ALIKE = [
    ("dropout", 3, ["dropout"]),
    ("uneven_data", 2, ["uneven"]),
    *([("gan", 2, ["draws"]), ("vae", 2, ["draws", "evaluation"]), ("diffusion", 2, ["draws"])] if ALL else []),
    *([("amp_scaler", 2, ["autocast"]), ("class_weights", 2, ["weights"])] if ALL else []),
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
    assert "becomes" in report.causes[0].evidence, report


def test_batchnorm_is_found_by_its_evaluation_and_has_a_remedy(helper):
    """On processors SyncBatchNorm is no experiment: torch has none for them, and a script that asks for it says so."""
    notebook = NOTEBOOKS / "batchnorm_print_eval.py"
    for options, advice in ((None, "SyncBatchNorm, which torch has for GPUs only"), (SYNC, "nothing on GPUs: Sync")):
        report = verify(notebook, nproc=2, helper=helper, options=options)
        (cause,) = report.causes
        assert (report.verdict, cause.name) == ("alike", "batchnorm"), report
        assert cause.evidence.startswith("BatchNorm put in evaluation: "), report
        assert cause.advice.startswith(advice), report
