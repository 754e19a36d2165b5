"""Tensors that are trained without a model."""

from __future__ import annotations

import pytest

from nbddp.analysis.splitting import learned
from tests.analysis.cells import plan

DATA = "import torch\nX, y = torch.randn(40, 3), torch.randn(40, 1)\n"
LOOP = """
for step in range(5):
    loss = ((X @ W + b - y) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        for p in [W, b]:
            p -= 0.1 * p.grad
            p.grad = None
print(loss.item())
"""


@pytest.mark.parametrize(
    "made",
    [
        "W, b = torch.randn(3, 1), torch.zeros(1)\nfor p in [W, b]:\n    p.requires_grad = True",
        "W, b = torch.randn(3, 1), torch.zeros(1)\nfor p in (W, b):\n    p.requires_grad_()",
        "W = torch.randn(3, 1, requires_grad=True)\nb = torch.zeros(1, requires_grad=True)",
    ],
)
def test_which_are_trained(made):
    found = plan(f"{DATA}{made}\n{LOOP}")
    assert {"W", "b"} <= learned(found)
    assert not {"X", "y"} & learned(found)
    (split,) = found.assumed.splits
    assert split.names == ("X", "y")


def test_of_an_object():
    made = "self.w = torch.randn(3, 1)\n        self.w.requires_grad = True\n"
    layer = f"class Layer:\n    def __init__(self):\n        {made}"
    found = plan(f"{DATA}{layer}layer = Layer()\nW = layer.w\nb = torch.zeros(1, requires_grad=True)\n{LOOP}")
    assert "self.w" in learned(found)
