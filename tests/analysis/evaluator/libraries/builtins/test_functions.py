"""Python's own functions."""

from __future__ import annotations

import pytest

from nbddp.analysis.values import Extent
from tests.analysis.cells import BEFORE, batch, plan, seen

U, S, M, T, V = Extent.UNIFORM, Extent.SAMPLES, Extent.MEAN, Extent.SUM, Extent.VARYING


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("sum(x)", T),
        ("sum(1 for v in y if v > 0)", T),
        ("getattr(x, 'device')", U),
        ("next(iter(train_loader))", S),
    ],
)
def test_extent(source, expected):
    assert seen(source, f"n = [{source}]") is expected


def test_by_next_the_loop_draws_from_the_loader():
    made = plan(*BEFORE, batch("other = next(iter(test_loader))"))
    assert {made.program.source(o.node) for found in made.facts.drawn.values() for o in found} == {
        "DataLoader(test_set, batch_size=10)"
    }
    assert not plan(*BEFORE, batch("other = len(test_loader)")).facts.drawn
