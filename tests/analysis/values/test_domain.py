"""How what one rank has adds up over the ranks: the arithmetic of extents."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis.values.domain import Extent, Obj, Value, add, divide, join, join_extent, multiply, thing

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


@pytest.mark.parametrize(
    ("left", "right", "result"),
    [(U, U, U), (M, M, M), (T, T, T), (S, S, S), (U, M, M), (M, T, V), (S, M, S), (V, U, V), (U, R, R), (U, T, V)],
)
def test_sums(left, right, result):
    assert add(of(left), of(right)) is result
    assert add(of(right), of(left)) is result


def test_nothing_added_to_a_sum_counts_on_no_rank():
    assert add(of(U, const=0), of(T)) is T


@pytest.mark.parametrize(
    ("left", "right", "result"),
    [(U, U, U), (M, U, M), (T, U, T), (M, T, T), (RATE, T, M), (M, M, V), (T, T, V), (S, M, S), (V, U, V), (R, U, R)],
)
def test_products(left, right, result):
    assert multiply(of(left), of(right)) is result
    assert multiply(of(right), of(left)) is result


@pytest.mark.parametrize(
    ("left", "right", "result"), [(M, U, M), (T, U, T), (T, T, V), (U, M, V), (S, T, S), (V, U, V), (T, M, V)]
)
def test_quotients(left, right, result):
    assert divide(of(left), of(right)) is result


def test_a_sum_by_the_size_of_the_share_is_a_mean_where_all_shares_are_alike():
    assert divide(of(T), of(T, equal=True)) is M
    assert divide(of(U), of(T, equal=True)) is RATE


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
    a, b = Value(items=(of(U), of(M))), Value(items=(of(T), of(M)))
    assert [i.extent for i in join(a, b).items or ()] == [T, M]


def test_constants_survive_where_both_paths_have_the_same():
    assert join(of(U, const=3), of(U, const=3)).const == 3
    assert join(of(U, const=3), of(U, const=4)).const is None


def test_things_are_hashed_by_their_place_not_by_their_address():
    first, second = (ast.parse("x = f()").body[0] for _ in range(2))
    assert hash(Obj("model", first, "f")) == hash(Obj("model", second, "f"))
    assert Obj("model", first, "f") != Obj("model", second, "f")
