"""Curves that stay small and show only numbers that were reported."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest

from nbddp.run.state.curve import LIMIT, Curve


def drawn(count: int) -> Curve:
    curve = Curve("loss", "step", "step")
    for number in range(count):
        curve = curve.add(number, number * 2)
    return curve


@pytest.mark.parametrize("count", [0, 1, 5, LIMIT - 1])
def test_a_short_one_has_every_point(count):
    assert drawn(count).points == tuple((float(n), float(n * 2)) for n in range(count))


@pytest.mark.parametrize("count", [LIMIT, LIMIT + 1, 3 * LIMIT, 10 * LIMIT + 7])
def test_a_long_one_has_few_and_always_the_latest(count):
    curve = drawn(count)
    assert len(curve.points) <= LIMIT
    assert curve.points[-1] == (float(count - 1), float(2 * (count - 1)))
    assert curve.points[0] == (0.0, 0.0)
    assert curve.seen == count
    assert all(y == 2 * x for x, y in curve.points)  # none is averaged


def test_the_points_that_stay_are_evenly_apart():
    xs = [x for x, _ in drawn(5 * LIMIT).kept]
    assert len({b - a for a, b in pairwise(xs)}) == 1


@pytest.mark.parametrize("point", [(0, math.nan), (0, math.inf), (math.nan, 0)])
def test_what_cannot_be_drawn_is_left_out(point):
    assert drawn(3).add(*point) == drawn(3)
