"""Notebooks of many shapes: N processes agree with one where the mathematics says so; else the cause is named."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from nbddp.options import Options
from nbddp.verify import verify

SYNC = Options(sync_batchnorm=True)
NOTEBOOKS = Path(__file__).parents[1] / "e2e" / "notebooks"

# What the twelve of test_twelve_shapes.py do not have; the larger ones with `make test-all` only.
ALL = os.environ.get("NBDDP_TEST_ALL") == "1"
SAME = [
    ("weighted_sampler", 2),
    *([("plain_loop", 3), ("transformer_lm", 2), ("amp_off", 2), ("function_loop", 3), ("triplet", 2)] if ALL else []),
]
ALIKE = [
    ("uneven_data", 2, ["uneven"]),
    *([("vae", 2, ["draws", "evaluation"]), ("diffusion", 2, ["draws"]), ("gan", 2, ["draws"])] if ALL else []),
    *([("amp_scaler", 2, ["autocast"]), ("class_weights", 2, ["weights"]), ("dropout", 3, ["dropout"])] if ALL else []),
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
