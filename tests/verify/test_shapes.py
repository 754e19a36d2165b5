"""Notebooks of many shapes: N processes agree with one where the mathematics says so; else the cause is named."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from nbddp.options import Options
from nbddp.verify import verify
from tests.verify.claims import verification

SYNC = Options(sync_batchnorm=True)
NOTEBOOKS = Path(__file__).parents[1] / "e2e" / "notebooks"

# What the twelve of test_twelve_shapes.py do not have; the larger ones with `make test-all` only.
SAME = [("weighted_sampler", 2)]
LARGER = [
    ("plain_loop", 3),
    ("transformer_lm", 2),
    ("amp_off", 2),
    ("function_loop", 3),
    ("triplet", 2),
    ("class_weights", 2),
]
ALIKE = [("uneven_data", 2, ["uneven"])]
LARGER_ALIKE = [
    ("vae", 2, ["draws", "evaluation"]),
    ("diffusion", 2, ["draws"]),
    ("gan", 2, ["draws"]),
    ("amp_scaler", 2, ["autocast"]),
    ("dropout", 3, ["dropout"]),
]


def thorough(runs: Sequence[tuple[object, ...]]) -> list[object]:
    return [pytest.param(*run, marks=pytest.mark.thorough) for run in runs]


@pytest.mark.parametrize(("name", "nproc"), [*SAME, *thorough(LARGER)])
def test_processes_that_must_agree_do(name, nproc, request, proved):
    notebook = NOTEBOOKS / f"{name}.py"

    def judge() -> None:
        report = verify(notebook, nproc=nproc, helper=request.getfixturevalue("helper"))
        assert (report.verdict, report.status) == ("same", 0), report
        assert len(report.rows) >= 10
        assert report.comparison.apart <= 1e-5

    proved(verification(name, notebook, nproc), judge)


@pytest.mark.parametrize(("name", "nproc", "causes"), [*ALIKE, *thorough(LARGER_ALIKE)])
def test_where_they_need_not_the_construct_is_named(name, nproc, causes, request, proved):
    notebook = NOTEBOOKS / f"{name}.py"

    def judge() -> None:
        report = verify(notebook, nproc=nproc, helper=request.getfixturevalue("helper"))
        assert (report.verdict, report.status) == ("alike", 1), report
        assert [cause.name for cause in report.causes] == causes, report
        assert "becomes" in report.causes[0].evidence, report

    proved(verification(name, notebook, nproc), judge)


@pytest.mark.parametrize(
    ("name", "options", "advice"),
    [
        ("batchnorm", None, "use SyncBatchNorm (--sync-batchnorm; torch has it for GPUs only)"),
        ("batchnorm with SyncBatchNorm", SYNC, "nothing to do on GPUs: the script uses Sync"),
    ],
)
def test_batchnorm_is_found_by_its_evaluation_and_has_a_remedy(name, options, advice, request, proved):
    """On processors SyncBatchNorm is no experiment: torch has none for them, and a script that asks for it says so."""
    notebook = NOTEBOOKS / "batchnorm_print_eval.py"

    def judge() -> None:
        report = verify(notebook, nproc=2, helper=request.getfixturevalue("helper"), options=options)
        (cause,) = report.causes
        assert (report.verdict, cause.name) == ("alike", "batchnorm"), report
        assert cause.evidence.startswith("with BatchNorm in evaluation mode: "), report
        assert cause.advice.startswith(advice), report

    proved(verification(name, notebook, 2, options=options), judge)
