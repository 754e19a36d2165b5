"""What layers make of shapes; compared with torch in test_reshaping."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis.values import AsMany, Several
from tests.analysis.cells import BEFORE, TRAINING, plan

LAYERS = "first, last = nn.Linear(8, 4), nn.Linear(4, 1)\nlayers = [first, last]\n"
LAYERS += "class Own(nn.Module):\n    def forward(self, x):\n        return x.mean(1)\n"


@pytest.mark.parametrize(
    ("layer", "expected"),
    [
        ("nn.Linear(8, 3)", (None, 3)),
        ("nn.Linear(8, out_features=3)", (None, 3)),
        ("nn.Dropout(0.5)", (None, 8)),
        ("nn.Sequential(first, nn.ReLU(), last)", (None, 1)),
        ("nn.Sequential(*layers)", (None, None)),
        ("nn.Sequential(*layers, nn.Flatten())", None),
        ("nn.Sequential(first, nn.Sequential(last), nn.Flatten(0))", (None,)),
        ("nn.LSTM(8, 3)", Several(((None, None), None))),
        ("nn.LSTMCell(8, 3)", None),
        ("Own()", (None,)),
    ],
)
def test_after(layer: str, expected: tuple[int | None, ...] | Several | None) -> None:
    made = plan(*BEFORE, LAYERS, f"layer = {layer}", TRAINING.replace("loss = ", "found = layer(x)\n        loss = "))
    (node,) = [n for n in made.program.nodes if isinstance(n, ast.Call) and ast.unparse(n) == "layer(x)"]
    shape = made.facts.value(node).shape
    assert (None if isinstance(shape, AsMany) else shape) == expected
