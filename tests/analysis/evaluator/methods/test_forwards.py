"""What a model makes of a batch, by its own forward, by another one that takes its place, and layer by layer."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis.values import Extent, spread
from tests.analysis.cells import BEFORE, batch, node, plan

NET = """
import functools, types
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.rest = nn.Linear(8, 2), nn.Sequential(nn.ReLU(), nn.Softmax(dim=1))
    def forward(self, x):
        return self.rest(self.first(x))
net = Net()
def loss_of(x, scale):
    return (net.first(x) * scale).mean()
"""


@pytest.mark.parametrize(
    ("before", "extent"),
    [
        ("", Extent.SAMPLES),
        ("net.forward = lambda x: net.first(x).mean()", Extent.MEAN),
        ("net.forward = functools.partial(loss_of, scale=2.0)", Extent.MEAN),
        ("net.forward = types.MethodType(lambda self, x: self.first(x).sum(), net)", Extent.SUM),
    ],
)
def test_what_takes_the_place_of_a_forward(before: str, extent: Extent) -> None:
    made = plan(*BEFORE, NET + before, batch("n = net(x)"))
    assert spread(made.facts.value(node(made, ast.Call, "net(x)"))) is extent


@pytest.mark.parametrize(
    ("layer", "told"), [("nn.Softmax(dim=1)", False), ("nn.Softmax(dim=0)", True), ("nn.Tanh()", False)]
)
def test_layers_in_turn_that_go_along_the_samples(layer: str, told: bool) -> None:
    net = f"net = nn.Sequential(nn.Linear(8, 2), nn.Sequential(nn.ReLU(), {layer}))"
    cell = f"{net}\noptimizer = torch.optim.SGD(net.parameters(), lr=0.1)"
    made = plan(*BEFORE[:2], cell, batch("n = 0").replace("model", "net"))
    assert bool(made.facts.against_statistic) == told
