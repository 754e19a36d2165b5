"""Methods of tensors, arrays and numbers."""

from __future__ import annotations

import pytest

from nbddp.analysis.values import Extent
from tests.analysis.cells import seen

U, S, M, T, V = Extent.UNIFORM, Extent.SAMPLES, Extent.MEAN, Extent.SUM, Extent.VARYING


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("x.size(0)", T),
        ("x.size(1)", U),
        ("x.size()[0]", T),
        ("x.numel()", T),
        ("x.dim()", U),
        ("loss.item()", M),
        ("x.sum()", T),
        ("x.sum(0)", T),
        ("x.sum(1)", S),
        ("x.sum(dim=0)", T),
        ("x.sum(axis=1)", S),
        ("x.mean()", M),
        ("x.mean(1)", S),
        ("x.mean().item()", M),
        ("x.view(-1)", S),
        ("x.detach().cpu().numpy()", S),
        ("loss.exp()", V),
        ("x.exp()", S),
        ("x.max()", V),
        ("x.max(1)", S),
        ("loss.abs()", V),
        ("x.sum().sqrt()", V),
        ("torch.zeros(1, 4).repeat(len(x), 1)", S),
        ("torch.zeros(1, 2, 4).repeat((x.size(0), 1, 1))", S),
        ("torch.zeros(1, 4).repeat(3, 1)", U),
        ("torch.zeros(1, 4).repeat(1, len(x))", V),
    ],
)
def test_extent(source, expected):
    assert seen(source, f"n = [{source}]") is expected
