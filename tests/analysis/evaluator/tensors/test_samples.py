"""What sets samples against each other, and what treats each for itself."""

from __future__ import annotations

import pytest

from nbddp.analysis.values import Extent
from tests.analysis.cells import seen

U, S, M, T, V = Extent.UNIFORM, Extent.SAMPLES, Extent.MEAN, Extent.SUM, Extent.VARYING


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("x.std()", V),
        ("x.std(dim=1)", S),
        ("x.max(dim=0)", V),
        ("x.norm()", V),
        ("x.norm(2, 1)", S),
        ("x.topk(3)", V),
        ("x.topk(1)", S),
        ("x.topk(3, dim=1)", S),
        ("x.sort(0)", V),
        ("x.sort(1)", S),
        ("x.cumsum(0)", V),
        ("x.cumsum(1)", S),
        ("x.logsumexp(0)", V),
        ("x.logsumexp(1)", S),
        ("x.bincount(minlength=3)", T),
        ("torch.bincount(x, None, 3)", T),
        ("torch.bincount(x, weights=x / len(x), minlength=3)", V),  # what is added up is a mean
        ("torch.histc(x, 3, -1, 1)", T),
        ("torch.histc(x, bins=3, min=x.min(), max=x.max())", V),  # limits of its own
        ("x.bincount()", V),
        ("x.dot(y)", V),
        ("torch.cumsum(x, 0)", V),
        ("torch.masked_select(x, y > 0)", S),
        ("x.sum()", T),
        ("x.sum(0)", T),
        ("x.sum(1)", S),
        ("np.average(x.numpy(), weights=y.numpy())", V),
    ],
)
def test_extent(source, expected):
    assert seen(source, f"n = [{source}]", before="import numpy as np\nw = torch.zeros(8, 8)") is expected


def test_of_numbers_that_all_ranks_have_nothing_is_set_against_each_other():
    assert seen("w.max()", "n = w.max()", before="w = torch.zeros(8)") is Extent.UNIFORM
    assert seen("w.topk(3)", "n = w.topk(3)", before="w = torch.zeros(8)") is Extent.UNIFORM
