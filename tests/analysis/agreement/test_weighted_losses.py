"""Losses whose mean counts some samples more than others."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis.agreement.weighted_losses import weighted_losses
from tests.analysis.cells import BEFORE, batch, plan


def found(call: str, before: str = "w = torch.ones(2)") -> list[str]:
    made = plan(*BEFORE, before, batch(f"n = {call}"))
    return [text for loss in weighted_losses(made) if (text := ast.unparse(loss)) == call]


@pytest.mark.parametrize(
    "call",
    [
        "F.cross_entropy(x, y, w)",
        "F.cross_entropy(x, y, weight=w)",
        "F.nll_loss(x, y, ignore_index=0)",
        "nn.CrossEntropyLoss(w)",
        "nn.CrossEntropyLoss(weight=w, reduction='mean')",
    ],
)
def test_by_weights_or_a_label_for_none(call):
    assert found(call) == [call]


@pytest.mark.parametrize(
    "call",
    [
        "F.cross_entropy(x, y)",
        "F.cross_entropy(x, y, weight=None)",
        "F.cross_entropy(x, y, w, reduction='sum')",
        "nn.CrossEntropyLoss()",
        "nn.MSELoss()",
        "F.binary_cross_entropy(x, y, weight=w)",
    ],
)
def test_others_count_all_alike(call):
    assert found(call) == []


def test_the_label_that_torch_leaves_out_is_one_for_none():
    assert found("F.cross_entropy(x, y)", "ignored = -100") == []  # which the training does not need
    assert found("F.cross_entropy(x, y.masked_fill(y == 0, -100))") == [
        "F.cross_entropy(x, y.masked_fill(y == 0, -100))"
    ]


def test_the_label_that_a_collator_puts_in():
    cell = """
class Collator:
    def __call__(self, rows):
        return {"labels": torch.tensor([-100 for row in rows])}
loader = DataLoader(train_set, collate_fn=Collator())
"""
    made = plan(*BEFORE, cell, batch("n = F.cross_entropy(x, y)").replace("train_loader", "loader"))
    assert "F.cross_entropy(x, y)" in [ast.unparse(loss) for loss in weighted_losses(made)]
