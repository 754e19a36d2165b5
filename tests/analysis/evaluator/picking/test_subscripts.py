"""What stands at a place."""

from __future__ import annotations

import pytest

from nbddp.analysis.values import Extent
from tests.analysis.cells import seen

U, S, M, T, V = Extent.UNIFORM, Extent.SAMPLES, Extent.MEAN, Extent.SUM, Extent.VARYING


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("x[0]", S),
        ("(loss.item(), epoch)[1]", U),
        ("(loss.item(), epoch)[-2]", M),
        ("[loss.item(), epoch][0]", M),
        ("{'loss': loss.item(), 'epoch': epoch}['epoch']", U),
        ("{'loss': loss.item(), 'epoch': epoch}['loss']", M),
        ("{**{'loss': loss.item()}, 'epoch': epoch}['loss']", M),
        ("[0.1, 0.2][y]", S),
    ],
)
def test_extent(source, expected):
    assert seen(source, f"n = [{source}]") is expected


def test_a_default_is_made_for_each_key():
    before = "from collections import defaultdict\nlog = defaultdict(list)"
    assert seen("log['b']", "log['a'].append(loss.item())", "n = log['b']", before=before) is U
