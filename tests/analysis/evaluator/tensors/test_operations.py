"""Operators by another name, and equations."""

from __future__ import annotations

import pytest

from nbddp.analysis.evaluator import contracted
from nbddp.analysis.values import Extent
from tests.analysis.cells import seen

U, S, M, T, V = Extent.UNIFORM, Extent.SAMPLES, Extent.MEAN, Extent.SUM, Extent.VARYING


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("x.mul(2)", S),
        ("loss.mul(len(x))", T),
        ("loss.add(1)", M),
        ("x.sum().add(1)", V),
        ("loss.div(2)", M),
        ("x.eq(y)", S),
        ("x.eq(y).sum()", T),
        ("torch.einsum('bi,bj->ij', x, x)", T),
        ("torch.einsum('bi,bj->bij', x, x)", S),
        ("torch.einsum('bi,bj', x, x)", T),
        ("torch.einsum('bi,ib->i', x, x.T)", T),
        ("torch.einsum('bi,bj->ib', x, x).sum(1)", T),
        ("torch.einsum('bi,bj->ib', x, x).sum(0)", S),
    ],
)
def test_extent(source, expected):
    assert seen(source, f"n = [{source}]") is expected


@pytest.mark.parametrize(
    ("equation", "found"),
    [
        ("bi,bj->ij", (["b", "b"], "ij")),
        ("bi, bj -> bij", (["b", "b"], "bij")),
        ("bi,ij->bj", (["b", "i"], "bj")),
        ("bi,bj", (["b", "b"], "ij")),
        ("...i,ij->...j", None),
        (None, None),
    ],
)
def test_equations(equation, found):
    assert contracted(equation) == found
