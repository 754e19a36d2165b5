"""Rows of a batch that a forward sets against each other, and what it may do with rows that are no samples."""

from __future__ import annotations

import pytest

from nbddp.rules.loss import rewrite
from tests.analysis.cells import plan

CELL = """import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

loader = DataLoader(TensorDataset(torch.randn(24, 3), torch.randn(24, 1)), batch_size=6)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.{layer}(3, 3)
        self.last = nn.Linear(3, 1)

    def forward(self, v):
        o = self.last(torch.relu(v))
        {line}
        return o


net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for x, y in loader:
    loss = (net(x) - y).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("o = o - o[:1]", True),
        ("o = o - o[0]", True),
        ("o = o + (o[1:] - o[:-1]).mean()", True),
        ("o = o - o[::2].mean()", True),
        ("o = o - self.last(v)[-1]", True),
        ("o = o - torch.flatten(v, 1)[0]", True),
        ("w = o.sum(1); o = o - w[0]", True),
        ("w = v.max(1)[0]; o = o * w[-1]", True),
        ("w = torch.cat([o, o], 1)[:, 1]; o = o * w[0]", True),
        ("o = o.clone(); o[0] = 1.0", True),
        ("o = o.clone(); o[:2, 0] = 1.0", True),
        ("o = o.mean(1, keepdim=True); o[-1] += 1.0", True),
        ("o = o.clone(); o[:, 0] = 1.0", False),
        ("w = torch.unsqueeze(v, 0); o = o + w[0][:, :1]", False),
        ("w = v.unsqueeze(dim=0); o = o + w[0][:, :1]", False),
        ("w = torch.stack([v, v], dim=1); o = o + w[0, 0, 0]", True),
        ("w = torch.stack([v, v]); o = o * w[0][:, :1]", False),
        ("w = v.permute(1, 0).clone(); w[0] = 1.0; o = o * w[0][:, None]", False),
        ("o = o - o[:, :1]", False),
        ("o = o - v[:, 0].unsqueeze(1)", False),
        ("q = v.unsqueeze(0); o = o + q[0][:, :1]", False),
        ("parts = v.chunk(3, 1); o = o + parts[0]", False),
        ("w = self.last.weight; o = o + w[0].sum()", False),
        ("t = v.permute(1, 0, *range(2, v.dim())); o = o + t[0][:, None]", False),
    ],
)
def test_rows_by_their_place(line: str, told: bool) -> None:
    found = [d for d in rewrite(plan(CELL.format(line=line, layer="Linear"))) if hasattr(d, "level")]
    assert bool(found) is told


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("o = o - o[0]", False),
        ("w = torch.zeros(v.shape[0], 1); w[:][0] = 1.0; o = o + w", True),
        ("w = torch.zeros((len(v), 1)); w[0] = 1.0; o = o + w", True),
        ("w = torch.zeros(3, 1); w[0] = 1.0; o = o + w.sum()", False),
    ],
)
def test_where_a_layer_goes_along_a_sequence_the_first_dimension_may_be_time(line: str, told: bool) -> None:
    """But for what is made with as many rows as there are samples."""
    assert bool([d for d in rewrite(plan(CELL.format(line=line, layer="LSTM"))) if hasattr(d, "level")]) is told


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("o = o - o[0]", True),
        ("w, state = self.first(v[:, None]); w = w[:, -1, :1]; o = o - w[0]", True),
        ("w, state = self.first(v[:, None]); o = o + state[-1][:, :1]", False),
        ("w, state = self.first(v[:, None]); o = o + w[:, -1, :1]; v = state", False),
        ("w, state = self.first(v[:, None]); h = state[-1]; o = o - h[0, 0]", True),
        ("w, state = self.first(v[:, None]); o = o - state[-1][:1, :1]", True),
        ("w, state = self.first(v[:, None]); o = o + state[0:1][0][:, :1]", False),
    ],
)
def test_where_every_such_layer_has_the_samples_first(line: str, told: bool) -> None:
    cell = CELL.replace("nn.{layer}(3, 3)", "nn.GRU(3, 3, batch_first=True)")
    assert bool([d for d in rewrite(plan(cell.format(line=line))) if hasattr(d, "level")]) is told
