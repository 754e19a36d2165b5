"""Lengths, numbers, and what is made of samples one by one."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis.values import Extent
from tests.analysis.cells import BEFORE, batch, node, plan, seen

U, S, M, T, V = Extent.UNIFORM, Extent.SAMPLES, Extent.MEAN, Extent.SUM, Extent.VARYING


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("len(x)", T),
        ("len(x.shape)", U),
        ("len(x.size())", U),
        ("len(np.asarray(x.tolist()).shape)", U),
        ("len(train_set)", U),
        ("len(train_loader)", U),
        ("len([v for v in y])", T),
        ("len([v for v in y if v > 0])", T),
        ("float(loss)", M),
        ("float(len(x))", T),
        ("str(loss.item())", V),
        ("abs(loss.item())", V),
        ("abs(x)", S),
        ("min(loss.item(), 3.0)", V),
        ("min(epoch, 3)", U),
        ("max(x)", V),
    ],
)
def test_extent(source, expected):
    assert seen(source, f"n = [{source}]") is expected


def test_the_size_of_a_share_is_alike_and_that_of_some_of_its_samples_is_not():
    made = plan(*BEFORE, batch("a = len(x)", "b = len(x[y == 1])"))
    assert made.facts.value(node(made, ast.Call, "len(x)")).equal
    assert not made.facts.value(node(made, ast.Call, "len(x[y == 1])")).equal
