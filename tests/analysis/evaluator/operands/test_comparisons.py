"""What a comparison comes to."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis.values import Extent
from tests.analysis.cells import BEFORE, batch, node, plan, seen

U, S, M, T, V = Extent.UNIFORM, Extent.SAMPLES, Extent.MEAN, Extent.SUM, Extent.VARYING


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("loss.item() < 0.5", V),
        ("epoch < 2", U),
        ("y == 1", S),
        ("loss is None", U),
        ("y is not None", U),
        ("epoch in (1, 2)", U),
        ("x.shape == (64, 8)", V),
        ("x.shape == x.shape", V),
    ],
)
def test_extent(source, expected):
    assert seen(source, f"n = [{source}]") is expected


@pytest.mark.parametrize(
    ("source", "known"),
    [
        ("None is None", True),
        ("x is None", False),
        ("x != None", True),
        ("'adam' == 'adam'", True),
        ("'adam' != 'adam'", False),
        ("'sgd' in ('adam', 'sgd')", True),
        ("'sgd' not in ('adam', 'sgd')", False),
        ("'sgd' in names", None),
        ("epoch == 2", None),
    ],
)
def test_what_is_known_beforehand(source, known):
    made = plan(*BEFORE, batch(f"n = {source}"))
    assert made.facts.value(node(made, ast.Compare, source)).const is known
