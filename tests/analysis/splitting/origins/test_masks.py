"""What picks samples by what is true of them, and what picks them by their places."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis.splitting.origins import is_mask
from tests.analysis.splitting.steps import planned

BEFORE = """
kept = torch.zeros(100, dtype=torch.bool)
kept[:60] = True
wanted = (y > 0).squeeze().to("cpu")
def chosen(of):
    return ~torch.isnan(of)
places = torch.arange(50)
mixed = kept
mixed = places
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("kept", True),
        ("wanted", True),
        ("kept & wanted", True),
        ("kept[places]", True),
        ("chosen(X)", True),
        ("y == 1", True),
        ("places", False),
        ("kept & places", False),
        ("mixed", False),
        ("kept.nonzero()", False),
        ("y.argsort()", False),
    ],
)
def test_is_mask(text, expected):
    made = planned(f"used = {text}\nloss = F.mse_loss(model(X), y)", before=BEFORE)
    (node,) = [n.value for n in made.nodes() if isinstance(n, ast.Assign) and ast.unparse(n.targets[0]) == "used"]
    assert is_mask(made, node) is expected
