"""What a method changes in its place."""

from __future__ import annotations

from nbddp.analysis.values import Extent
from tests.analysis.cells import seen

U, S, M = Extent.UNIFORM, Extent.SAMPLES, Extent.MEAN


def test_what_changes_in_place_makes_the_name_differ():
    assert seen("total", "total.add_(loss.detach())", "n = (total)", before="total = torch.zeros(1)") is M
    assert seen("total", "total.copy_(x[0])", "n = (total)", before="total = torch.zeros(8)") is S
    assert seen("total", "total.fill_(epoch)", "n = (total)", before="total = torch.zeros(1)") is U
