"""Names as a dictionary, and text that is run."""

from __future__ import annotations

import pytest

from nbddp.analysis.values import Extent
from tests.analysis.cells import seen

U, S, M, T, V = Extent.UNIFORM, Extent.SAMPLES, Extent.MEAN, Extent.SUM, Extent.VARYING


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("globals()['loss']", M),
        ("globals()['epoch']", U),
        ("eval('epoch + 1')", U),
        ("eval('loss.item() + 1')", V),
    ],
)
def test_extent(source, expected):
    assert seen(source, f"n = [{source}]") is expected


def test_what_a_text_changes_is_each_ranks_own():
    assert seen("total", "exec('total += loss.item()')", "n = (total)", before="total = 0.0") is V
    assert seen("total", "exec('total += epoch')", "n = (total)", before="total = 0.0") is U
