"""Comprehensions: loops of which nothing is combined behind them."""

from __future__ import annotations

import ast

from nbddp.analysis.values import Extent
from tests.analysis.cells import BEFORE, TRAINING, extent, plan


def test_an_evaluation_by_a_comprehension_is_run_whole():
    made = plan(*BEFORE, TRAINING + "    n = sum([model(x).sum().item() for x, y in test_loader])\n    print(n)\n")
    (loop,) = made.assumed.whole
    assert isinstance(loop, ast.comprehension)
    assert extent(made, "n") is Extent.REPEATED
