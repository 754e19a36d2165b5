"""Marks that say which dimension counts the samples; those that do nothing are found."""

from __future__ import annotations

import pytest

from nbddp.analysis.splitting import unused_marks
from tests.analysis.splitting.steps import planned

STEP = "idx = torch.randint(0, 100, (8,))\nloss = F.mse_loss(model(X[idx]), y[idx])"


@pytest.mark.parametrize(
    ("mark", "unused"),
    [
        ("# ddp: samples in dim 0", False),
        ("# ddp: samples in dim 1", False),
        ("# ddp: samples in dimensions 1", True),
        ("# ddp: samples along 1", True),
        ("# samples in dim 1", False),
    ],
)
def test_a_mark_that_is_not_understood_is_found(mark, unused):
    made = planned(f"{STEP}  {mark}")
    assert bool([*unused_marks(made, made.assumed.splits)]) is unused


def test_a_mark_beside_no_split_is_found():
    made = planned(f"{STEP}  # ddp: samples in dim 1")
    ((cell, _, text),) = unused_marks(made, ())
    assert cell.number == 1
    assert text.endswith("# ddp: samples in dim 1")
