"""Abstract values, and what two of them have in common."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis.values.domain import Extent, Obj, Value, join, join_extent, thing

U, R, S, M, T, RATE, V = (
    Extent.UNIFORM,
    Extent.REPEATED,
    Extent.SAMPLES,
    Extent.MEAN,
    Extent.SUM,
    Extent.RATE,
    Extent.VARYING,
)
ALL = tuple(Extent)


def of(extent: Extent, *, equal: bool = False, const: object = None) -> Value:
    return Value(extent=extent, equal=equal, const=const)


@pytest.mark.parametrize("a", ALL)
@pytest.mark.parametrize("b", ALL)
def test_joining_never_forgets_that_something_differs(a, b):
    found = join_extent(a, b)
    assert found is join_extent(b, a)
    assert (found in (U, R)) == (a in (U, R) and b in (U, R))


def test_a_value_on_two_paths_may_be_either_thing():
    one, two = thing("model", ast.Pass(), "a"), thing("model", ast.Pass(), "b")
    assert join(one, two).objs == one.objs | two.objs


def test_parts_of_tuples_are_joined_part_by_part():
    a, b = Value(items=(of(U, const=0), of(M))), Value(items=(of(T), of(M)))
    assert [i.extent for i in join(a, b).items or ()] == [T, M]


@pytest.mark.parametrize(("other", "expected"), [(of(U), V), (of(U, const=1), V), (of(U, const=0), T), (of(T), T)])
def test_a_sum_or_what_is_alike_is_neither(other, expected):
    assert join(of(T), other).extent is join(other, of(T)).extent is expected


def test_what_later_becomes_a_sum_is_one():
    assert join(of(U), of(T), later=True).extent is T


def test_constants_survive_where_both_paths_have_the_same():
    assert join(of(U, const=3), of(U, const=3)).const == 3
    assert join(of(U, const=3), of(U, const=4)).const is None


def test_things_are_hashed_by_their_place_not_by_their_address():
    first, second = (ast.parse("x = f()").body[0] for _ in range(2))
    assert hash(Obj("model", first, "f")) == hash(Obj("model", second, "f"))
    assert Obj("model", first, "f") != Obj("model", second, "f")
