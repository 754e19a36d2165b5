"""Backward methods of the notebook: each row is compared with what it makes of a gradient three times as large."""

from __future__ import annotations

import ast
from textwrap import indent

import pytest
import torch
import torch.nn.functional as F

from tests.analysis.cells import BEFORE, plan

OWN = """
class Step(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.sign()

    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
{body}

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(8, 4), nn.Linear(4, 2)

    def forward(self, x):
        return self.b(Step.apply(self.a(x)))

model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
"""
LOOP = """
for x, y in train_loader:
    loss = F.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
IN_PROPORTION = """
return g
return -0.5 * g
return g.neg() * 0.3
return g * (x.abs() <= 1).float()
return g / 2 + g.clone()
g = g.clone(); g[x < 0] = 0; return g
g = g.clone(); g[x < 0] *= 0.1; return g
return torch.where(x > 0, g, torch.zeros_like(g))
return torch.where(x > 0, g, 0.1 * g) if False else g
return g.masked_fill(x < 0, 0)
return g.clamp(min=0)
return g.clamp_min(0)
return torch.einsum("ij,jk->ik", g, torch.eye(4))
return g.abs().neg().double().float()
return F.relu(g) * (x > 0)
g = g.clone(); g[g < 0] = 0; return g
return g @ torch.eye(4)
return g.view(-1, 2, 2).flatten(1)
return (g.sum(1, keepdim=True)).expand(-1, 4)
""".strip().splitlines()
OUT_OF_PROPORTION = """
return g.clamp(-0.2, 0.2)
return F.hardtanh(g)
return g.sign()
return g / (g.norm() + 1e-8)
g = g.clone(); g[g.abs() < 0.3] = 0; return g
return g + x
return g * g
return torch.where(x > 0, g, x)
return g.masked_fill(x < 0, 1.0)
limit = g.abs().max(); return g.clamp(-limit, limit) + 0.1
return torch.tanh(g)
return (g * 30).round() / 30
return torch.round(g, decimals=1)
return g.clamp_min(-0.1)
return F.linear(g, torch.eye(4), torch.ones(4))
return g.int().float()
return torch.sqrt(g.abs())
g = g.clone(); g.clamp_(-0.1, 0.1); return g
return g + 0.01 * torch.ones_like(g)
""".strip().splitlines()


def _is_told(body: str) -> bool:
    made = plan(*BEFORE[:2], OWN.format(body=indent(body.replace("; ", "\n"), " " * 8)), LOOP)
    return bool(made.facts.out_of_proportion)


def _made(body: str, gradient: torch.Tensor) -> torch.Tensor:
    x, names = torch.linspace(-1, 1, 12).view(3, 4), {"torch": torch, "F": F}
    text = "def backward(g, x):\n" + indent(body.replace("; ", "\n"), "    ")
    exec(compile(ast.parse(text), "backward", "exec"), names)
    return names["backward"](gradient, x)


def _is_in_proportion(body: str) -> bool:
    gradient = torch.linspace(-0.6, 0.61, 12).view(3, 4).flip(1)
    return torch.allclose(_made(body, 3 * gradient), 3 * _made(body, gradient), atol=1e-9)


@pytest.mark.parametrize("body", IN_PROPORTION)
def test_in_proportion(body: str) -> None:
    assert _is_in_proportion(body)
    assert not _is_told(body)


@pytest.mark.parametrize("body", OUT_OF_PROPORTION)
def test_out_of_proportion(body: str) -> None:
    assert not _is_in_proportion(body)
    assert _is_told(body)
