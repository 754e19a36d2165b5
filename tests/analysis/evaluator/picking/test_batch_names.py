"""Whether a name is a batch, whose first dimension is that of the samples."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis.values import PLACED
from tests.analysis.cells import BEFORE, batch, node, plan


@pytest.mark.parametrize(
    ("lines", "source", "placed"),
    [
        (["d = x - 1", "e = d * 2", "n = d[0]"], "d[0]", True),  # computed with before: no tuple
        (["d = x - 1", "n = d[0]"], "d[0]", True),  # nor is what is computed of a tensor
        (["d = x - fetched()", "n = d[0]"], "d[0]", True),  # what is subtracted from is no tuple
        (["d = fetched(x)", "n = d[0]"], "d[0]", False),
        (["pair = tuple(x)", "n = pair[0]"], "pair[0]", True),  # of how many dimensions x has, is known
        (["pair = tuple(fetched(x))", "n = pair[0]"], "pair[0]", False),
        (["n = (x - 1)[0]"], "(x - 1)[0]", True),
        (["n = x[1:] - x[:-1]"], "x[1:]", True),
    ],
)
def test_a_place_in_a_batch_is_a_sample(lines, source, placed):
    made = plan(*BEFORE, batch(*lines))
    assert bool(made.facts.value(node(made, ast.Subscript, source)).of(PLACED)) is placed
