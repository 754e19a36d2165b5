"""What layers make of shapes; compared with torch in test_reshaping."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis.values import TURNED, AsMany
from tests.analysis.cells import BEFORE, TRAINING, plan

LAYERS = "first, last = nn.Linear(8, 4), nn.Linear(4, 1)\nlayers = [first, last]\n"
LAYERS += "class Own(nn.Module):\n    def forward(self, x):\n        return x.mean(1)\n"


@pytest.mark.parametrize(
    ("layer", "expected"),
    [
        ("nn.Linear(8, 3)", (None, 3)),
        ("nn.Linear(8, out_features=3)", (None, 3)),
        ("nn.Dropout(0.5)", (None, 8)),
        ("nn.Embedding(9, 5)", (None, 8, 5)),
        ("nn.Sequential(first, nn.ReLU(), last)", (None, 1)),
        ("nn.Sequential(*layers)", (None, None)),
        ("nn.Sequential(*layers, nn.Flatten())", None),
        ("nn.Sequential(first, nn.Sequential(last), nn.Flatten(0))", (None,)),
        ("nn.LSTMCell(8, 3)", None),
        ("Own()", (None,)),
    ],
)
def test_after(layer: str, expected: tuple[int | None, ...] | None) -> None:
    made = plan(*BEFORE, LAYERS, f"layer = {layer}", TRAINING.replace("loss = ", "found = layer(x)\n        loss = "))
    (node,) = [n for n in made.program.nodes if isinstance(n, ast.Call) and ast.unparse(n) == "layer(x)"]
    shape = made.facts.value(node).shape
    assert (None if isinstance(shape, AsMany) else shape) == expected


@pytest.mark.parametrize(
    ("layer", "layers", "width"),
    [
        ("nn.GRU(8, 3)", 1, 3),
        ("nn.GRU(8, 3, 2)", 2, 3),
        ("nn.GRU(8, 3, num_layers=2, bidirectional=True)", 4, 3),
        ("nn.GRU(8, 3, len(layers))", None, 3),
        ("nn.GRU(8, len(layers))", 1, None),
        ("nn.GRU(8, 3, proj_size=2)", 1, None),
        ("nn.GRU(8, 3, 2, True, True, 0.0, True)", None, None),
    ],
)
def test_states_are_counted_behind_the_layers(layer: str, layers: int | None, width: int | None) -> None:
    made = plan(
        *BEFORE,
        LAYERS,
        f"layer = {layer}",
        TRAINING.replace("loss = ", "steps, h = layer(x)\n        both = steps, h\n        loss = "),
    )
    steps, h = (
        n
        for n in made.program.nodes
        if isinstance(n, ast.Name) and n.id in ("steps", "h") and isinstance(n.ctx, ast.Load)
    )
    assert made.facts.value(h).shape == (layers, None, width)
    assert made.facts.value(h).of(TURNED)
    assert made.facts.value(steps).shape == (None, None)


def test_both_states_of_an_lstm() -> None:
    inside = "steps, (h, c) = layer(x)\n        both = h, c\n        loss = "
    made = plan(*BEFORE, LAYERS, "layer = nn.LSTM(8, 3)", TRAINING.replace("loss = ", inside))
    states = [
        n for n in made.program.nodes if isinstance(n, ast.Name) and n.id in ("h", "c") and isinstance(n.ctx, ast.Load)
    ]
    assert [bool(made.facts.value(n).of(TURNED)) for n in states] == [True, True]
