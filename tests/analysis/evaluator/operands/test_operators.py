"""What an operator makes of two values."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis.values import Extent, Value, binary
from tests.analysis.cells import seen

U, S, M, T, V = Extent.UNIFORM, Extent.SAMPLES, Extent.MEAN, Extent.SUM, Extent.VARYING


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("loss.item() % 2", V),
        ("len(x) % 2", V),
        ("x @ x", S),
        ("x.T @ x", T),
    ],
)
def test_extent(source, expected):
    assert seen(source, f"n = [{source}]") is expected


def of(extent: Extent, *, equal: bool = False) -> Value:
    return Value(extent=extent, equal=equal)


@pytest.mark.parametrize("extent", [M, T])
def test_powers_and_remainders_of_what_adds_up_do_not(extent):
    assert binary(of(extent), of(U), ast.Pow()).extent is V
    assert binary(of(extent), of(U), ast.Mod()).extent is V


@pytest.mark.parametrize("extent", [U, S])
def test_powers_of_what_is_the_same_or_for_each_sample_stay(extent):
    assert binary(of(extent), of(U), ast.Pow()).extent is extent


def test_the_size_of_the_share_by_a_number_is_alike_on_all_ranks():
    assert binary(of(T, equal=True), of(U), ast.Mult()).equal
    assert not binary(of(T), of(U), ast.Mult()).equal


def test_what_containers_hold_goes_into_what_is_made_of_them():
    assert seen("seen | {y[0].item()}", "n = seen | {y[0].item()}", before="seen = set()") is V
