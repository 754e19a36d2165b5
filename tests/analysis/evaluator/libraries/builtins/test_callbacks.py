"""Functions that are given to one of Python's own."""

from __future__ import annotations

import pytest

from nbddp.analysis.values import Extent
from tests.analysis.cells import seen

U, S, M, T, V = Extent.UNIFORM, Extent.SAMPLES, Extent.MEAN, Extent.SUM, Extent.VARYING


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("list(map(float, [loss]))[0]", M),
        ("functools.reduce(lambda a, b: a + b, [loss, loss])", V),
        ("functools.reduce(lambda a, b: a + b, [epoch, 1])", U),
    ],
)
def test_extent(source, expected):
    assert seen(source, f"n = [{source}]", before="import functools") is expected
