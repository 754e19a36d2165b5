"""What is known of a tensor by how it was made."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis.values import Extent
from tests.analysis.cells import plan

DATA = """import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

data = torch.randn(24, 3)
loader = DataLoader(TensorDataset(data, torch.randn(24, 1), torch.randint(0, 3, (24,))), batch_size=6)
deeper = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
images = DataLoader(folder, batch_size=6)
optimizer = torch.optim.SGD(deeper.parameters(), lr=0.1)


def spoken(v):
    return deeper(v)


for x, y, c in loader:
    out = deeper(x)
    loss = (out - y).pow(2).mean()
    loss.backward()
    optimizer.step()
"""
V, S = Extent.VARYING, Extent.SAMPLES


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("c.sort(-1)[0]", V),
        ("c.cumsum(-1)", V),
        ("torch.cumsum(c, dim=-1)", V),
        ("c.float().cumsum(-1)", V),
        ("torch.nn.functional.normalize(c.float())", V),
        ("c.unsqueeze(1).cumsum(-1)", S),
        ("x[:, 0].cumsum(-1)", V),
        ("x.cumsum(-1)", S),
        ("x.cumsum(-2)", V),
        ("x.max(1)[0].cumsum(-1)", V),
        ("x.max(dim=1).values.cumsum(-1)", V),
        ("x.max(1, keepdim=True)[0].cumsum(-1)", S),
        ("x.argmax(-1).cumsum(-1)", V),
        ("torch.bmm(x.unsqueeze(1), x.unsqueeze(2)).squeeze().cumsum(-1)", V),
        ("torch.bmm(x.unsqueeze(2), x.unsqueeze(1)).squeeze().cumsum(-1)", S),
        ("nn.functional.linear(x, deeper[0].weight).cumsum(-1)", S),
        ("out.mT.cumsum(-1)", V),
        ("out.mT.cumsum(0)", S),
        ("out.transpose(-2, -1).cumsum(1)", V),
        ("(out - y).squeeze(1).cumsum(-1)", V),
        ("(out - y).reshape(-1, 1).cumsum(-1)", S),
        ("nn.Flatten(0)(out).cumsum(-1)", V),
        ("torch.einsum('bi,bi->b', pixels, pixels).cumsum(-1)", V),
        ("(x * torch.tensor([[1.0, 2.0, 3.0]])).sum(1).cumsum(-1)", V),  # numbers in two dimensions
        ("(pixels * torch.tensor(2.0)).cumsum(-1)", S),
        ("torch.stack([*x]).cumsum(0)", V),
        ("torch.stack([*x]).cumsum(1)", S),
        ("torch.stack(list(x)).cumsum(0)", V),
        ("torch.stack([*x.unbind(1)], 1).cumsum(1)", S),
        ("pixels.cumsum(-1)", S),  # of how many dimensions, is not known
        ("pixels.sum(-2)", V),
        ("spoken(x).cumsum(-1)", S),
        ("pixels.transpose(-1, -2).cumsum(1)", S),
    ],
)
def test_extent(source: str, expected: Extent) -> None:
    loop = "for pixels, kinds in images:\n" if "pixels" in source else ""
    made = plan(f"{DATA}{loop}    {source}\n")
    (node,) = [n for n in made.program.nodes if isinstance(n, ast.expr) and ast.unparse(n) == source]
    assert made.facts.value(node).extent is expected


@pytest.mark.parametrize(("layer", "expected"), [("Linear", V), ("Conv1d", S), ("LSTM", S)])
def test_classes_that_a_loss_is_given_have_one_dimension_where_nothing_has_more(layer: str, expected: Extent) -> None:
    head = f"{DATA.partition('loader = ')[0]}other = nn.{layer}(3, 3)\nnet = nn.Linear(3, 3)\n"
    head += "optimizer = torch.optim.SGD(net.parameters(), lr=0.1)\n"
    lines = ("loss = nn.functional.cross_entropy(net(x), c)", "loss.backward()", "optimizer.step()", "c.cumsum(-1)")
    made = plan(f"{head}for x, c in DataLoader(data, batch_size=6):\n" + "".join(f"    {line}\n" for line in lines))
    (node,) = [n for n in made.program.nodes if isinstance(n, ast.expr) and ast.unparse(n) == "c.cumsum(-1)"]
    assert made.facts.value(node).extent is expected
