"""Twelve shapes of notebooks, each in all three modes and on 2 and 3 processes: the numbers of one plain process.

Where they must not agree, verify says so and names the construct. The headers of `shapes/` say what is right: the
verdict with its causes, and whether nn.DataParallel, which splits a batch as DDP does, can have the same numbers.
"""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import pytest
import torch

from nbddp.run.start.launch import Helper
from nbddp.verify import Report, verify
from tests.e2e.expectation import header
from tests.e2e.process import run_alone
from tests.verify.claims import verification

SHAPES = sorted(Path(__file__).with_name("shapes").glob("[a-z]*.py"))
IN_SHELL = Path(__file__).parents[1] / "inkernel" / "in_shell.py"
EVERY = 1000  # steps: to the end of each training
Weights = dict[str, torch.Tensor]


@cache
def in_kernel(mode: str) -> dict[str, Weights]:
    """What each notebook leaves in a kernel whose cell has this mode, by the names of its parameters."""
    folder = Path(mkdtemp(prefix="nbddp-shapes-"))
    words = [str(word) for shape in SHAPES for word in (folder / shape.stem, shape)]
    run_alone([sys.executable, str(IN_SHELL), mode, *words], folder, folder, 400.0)
    found = {shape.stem: torch.load(folder / shape.stem / "record.pt", weights_only=True) for shape in SHAPES}
    return {name: {k: v for s in left["states"].values() for k, v in s.items()} for name, left in found.items()}


@cache
def report_of(shape: Path, nproc: int, helper: Helper) -> Report:
    """Asked for once where both tests of a shape train."""
    return verify(shape, steps=EVERY, nproc=nproc, helper=helper)


def trained(report: Report, side: str) -> Weights:
    """As the last step of each optimizer has left them."""
    last = {row.optimizer: getattr(row, side).weights for row in report.rows}
    return {key.partition(":")[2]: torch.tensor(v) for weights in last.values() for key, v in weights.items()}


def apart(ours: Weights, theirs: Weights) -> float:
    """The largest difference of any weight; both have all of them."""
    return max(float((ours[name].flatten().double() - value).abs().max()) for name, value in theirs.items())


def test_there_are_twelve() -> None:
    assert len(SHAPES) == 12


EACH = pytest.mark.parametrize(
    ("shape", "nproc"),
    [
        pytest.param(shape, n, id=f"{shape.stem}-{n}", marks=pytest.mark.xdist_group("twelve shapes"))
        for shape in SHAPES
        for n in (2, 3)
    ],
)


@EACH
def test_the_processes_agree_or_the_cause_is_named(shape, nproc, request, proved) -> None:
    verdict, *causes = header(shape)["verdict"].split()

    def judge() -> None:
        report = report_of(shape, nproc, request.getfixturevalue("helper"))
        assert (report.verdict, [cause.name for cause in report.causes]) == (verdict, causes), report
        assert not any(cause.defect for cause in report.causes)
        assert (report.comparison.apart <= 1e-5) == (verdict == "same")

    proved(verification(f"the shape {shape.stem}", shape, nproc), judge)


@EACH
@pytest.mark.thorough
def test_the_modes_agree_where_the_processes_do(shape, nproc, helper) -> None:
    verdict = header(shape)["verdict"].split()[0]
    report = report_of(shape, nproc, helper)
    one, many = trained(report, "one"), trained(report, "many")
    single, dp = in_kernel("single")[shape.stem], in_kernel("dp")[shape.stem]
    assert apart(single, one) <= 1e-5
    assert (apart(dp, one) <= 1e-5) == ("dp" not in header(shape))
    assert (apart(dp, many) <= 1e-5 and apart(single, many) <= 1e-5) == (verdict == "same")
