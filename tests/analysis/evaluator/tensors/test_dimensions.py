"""Along which dimension: that of the samples, or another."""

from __future__ import annotations

import pytest

from nbddp.analysis.values import Extent
from tests.analysis.cells import seen

U, S, M, T, V = Extent.UNIFORM, Extent.SAMPLES, Extent.MEAN, Extent.SUM, Extent.VARYING


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("x.argmax(dim=-1)", S),
        ("torch.softmax(x, 0).sum()", V),
        ("torch.softmax(x, 1).sum()", T),
        ("x.sum(dim=-1)", S),
        ("x.sum(axis=0)", T),
        ("x.sum((0, 2))", T),
        ("x.sum((1, 2))", S),
        ("x.sum(-2)", T),
        ("x.mean(dim=-2)", M),
        ("x.std(-2)", V),
        ("x.amax(-2)", V),
        ("x.sort(-2)", V),
        ("x.cumsum(-2)", V),
        ("x.logsumexp(-2)", V),
        ("torch.nn.functional.normalize(x)", S),
        ("torch.nn.functional.normalize(x, 2, 0)", V),
        ("torch.nn.functional.normalize(x, dim=-2)", V),
        ("torch.softmax(x, -2).sum()", V),
        ("torch.nn.Softmax(dim=0)(x).sum()", V),
        ("torch.nn.Softmax(dim=1)(x).sum()", T),
        ("np.mean(x.numpy(), axis=-2)", V),
        ("torch.nn.functional.softmax(x).sum()", T),
        ("torch.cat([torch.unsqueeze(x, dim=0), torch.unsqueeze(x, dim=0)], dim=0).max(dim=0)[0]", S),
        ("x.unsqueeze(dim=0).max(dim=0)[0].sum()", T),
        ("x.unsqueeze(dim=0).max(dim=1)[0]", V),
        ("x.transpose(dim0=0, dim1=1).max(dim=1)[0]", V),
        ("x.permute(dims=(1, 0, 2)).sum(0)", S),
        ("x.permute(dims=(1, 0, 2)).std(1)", V),
    ],
)
def test_extent(source, expected):
    assert seen(source, f"n = [{source}]", before="import numpy as np\nw = torch.zeros(8, 8)") is expected


@pytest.mark.parametrize(("counted", "expected"), [("range(2)", V), ("range(1, 3)", S), ("range(0, 2)", V)])
def test_a_dimension_that_is_counted_may_be_that_of_the_samples(counted, expected):
    assert seen("x.sum(d)", f"for d in {counted}:", "    n = x.sum(d)") is expected
