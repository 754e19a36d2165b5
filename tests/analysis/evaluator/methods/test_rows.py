"""Rows that are written outside of the loops over batches."""

from __future__ import annotations

import pytest

from nbddp.analysis.values import Extent
from tests.analysis.cells import BEFORE, TRAINING, extent, plan


@pytest.mark.parametrize("row", ["loss.item()", "(epoch, loss.item())", "[epoch, loss.item()]"])
def test_numbers_of_a_row_are_combined_there(row):
    made = plan(*BEFORE, "log = []", f"{TRAINING.rstrip()}\n    log.append({row})\n    last = log[0]\n    print(last)")
    assert extent(made, "last") is Extent.UNIFORM
