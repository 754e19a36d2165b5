"""Where the samples of a batch are then."""

from __future__ import annotations

import pytest

from nbddp.analysis.values import Extent
from tests.analysis.cells import seen

U, S, M, T, V = Extent.UNIFORM, Extent.SAMPLES, Extent.MEAN, Extent.SUM, Extent.VARYING


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("x.t().mm(x)", T),
        ("x.mm(w)", S),
        ("x.transpose(0, 1).matmul(x)", T),
        ("x.transpose(1, 2)", S),
        ("x.view(-1).sum(-1)", T),
        ("x.flatten().std(-1)", V),
        ("x[:, 0].std(-1)", V),
        ("x.squeeze().cumsum(-1)", S),
        ("x[:, :1].squeeze(1).cumsum(-1)", V),
        ("x.sum(1, keepdim=True).squeeze().cumsum(-1)", V),
        ("torch.nn.functional.softmax(x[:, 0]).sum()", V),
        ("(x[:, 0] * 2)[:, None].softmax(-1).sum()", T),
        ("x.permute(1, 0).mean(1)", Extent.MEAN),
        ("x.movedim(0, 1).sum(1)", T),
    ],
)
def test_extent(source, expected):
    assert seen(source, f"n = [{source}]", before="import numpy as np\nw = torch.zeros(8, 8)") is expected
