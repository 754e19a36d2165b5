"""What is taken out of a batch."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis.values import PICKED
from tests.analysis.cells import BEFORE, batch, node, plan


@pytest.mark.parametrize(
    ("source", "picked"),
    [("x[y == 1]", True), ("x[:16]", True), ("x[0]", False), ("x[:, 0]", False), ("x[:2]", True)],
)
def test_some_of_the_samples_are_told_from_all(source, picked):
    made = plan(*BEFORE, batch(f"n = {source}"))
    assert bool(made.facts.value(node(made, ast.Subscript, source)).of(PICKED)) is picked
