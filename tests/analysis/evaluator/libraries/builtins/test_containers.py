"""Lists, dictionaries and iterators that Python's own functions make."""

from __future__ import annotations

import pytest

from nbddp.analysis.values import Extent
from tests.analysis.cells import seen

U, S, M, T, V = Extent.UNIFORM, Extent.SAMPLES, Extent.MEAN, Extent.SUM, Extent.VARYING


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("dict(a=loss.item())['a']", M),
        ("dict(a=epoch)['a']", U),
        ("dict({'a': loss.item()}, b=1)['a']", M),
        ("list(y)[0]", S),
        ("list((epoch, 1))[0]", U),
    ],
)
def test_extent(source, expected):
    assert seen(source, f"n = [{source}]") is expected
