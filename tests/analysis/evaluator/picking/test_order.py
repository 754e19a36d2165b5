"""What is taken by places, and in which order."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis.values import MOVED, PICKED
from tests.analysis.cells import BEFORE, batch, node, plan


@pytest.mark.parametrize(
    ("source", "moved", "picked"),
    [
        ("x[torch.randperm(len(x))]", True, False),
        ("x[y.argsort()]", True, False),
        ("x[[2, 0, 1]]", True, True),
        ("x[::2]", False, True),
        ("x[torch.arange(len(x))]", False, False),
        ("x[:]", False, False),
    ],
)
def test_the_order_of_samples(source, moved, picked):
    made = plan(*BEFORE, batch(f"n = {source}"))
    found = made.facts.value(node(made, ast.Subscript, source))
    assert (bool(found.of(MOVED)), bool(found.of(PICKED))) == (moved, picked)
