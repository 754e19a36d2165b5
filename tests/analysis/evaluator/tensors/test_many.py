"""Of tensors of any number of dimensions: what is said holds for each number, as torch has it."""

from __future__ import annotations

import ast

import pytest
import torch

from nbddp.analysis.values import AsMany
from tests.analysis.cells import BEFORE, TRAINING, plan

DATA = """class Rows(torch.utils.data.Dataset):
    def __init__(self, table):
        self.table = torch.tensor(table)
    def __getitem__(self, i):
        return self.table[i], self.table[i]
    def __len__(self):
        return len(self.table)
loader = torch.utils.data.DataLoader(Rows(read()), batch_size=4)"""
LOOP = f"for x, y in loader:\n    found = {{line}}\n{TRAINING.split(chr(10), 1)[1]}"
LINES = """
x * 2 - 1
x.float()
x[:, 0]
x[:, 0:1]
x[:, None]
x[..., None]
x[..., 0]
x.unsqueeze(-1)
x.sum(1)
x.sum(1, keepdim=True)
x.mean((1, 2))
x.flatten(1)
x.transpose(1, 2)
x.permute(0, 2, 1, 3)
torch.relu(x)
torch.randn_like(x)
torch.randn(x.shape)
torch.randn(*x.shape)
x + torch.randn(*x.size())
torch.cat((x, x), dim=1)
torch.stack((x, x), dim=1)
nn.Linear(5, 3)(x)
nn.Sequential(nn.Linear(5, 3), nn.ReLU(), nn.Linear(3, 1))(x)
y.view_as(x)
(x - x.mean(1, keepdim=True)).abs()
""".strip().splitlines()


@pytest.mark.parametrize("line", LINES)
def test_what_is_said_holds_for_each_number(line: str) -> None:
    made = plan(*BEFORE, DATA, LOOP.format(line=line))
    names = [n for n in made.program.nodes if isinstance(n, ast.Name) and n.id == "x" and isinstance(n.ctx, ast.Load)]
    (node,) = [n for n in made.program.nodes if isinstance(n, ast.Assign) and ast.unparse(n.targets[0]) == "found"]
    given, said = made.facts.value(names[0]).shape, made.facts.value(node.value).shape
    assert isinstance(given, AsMany)
    for sizes in ((2, 5, 4, 5), (2, 5, 4, 3, 5)):
        if "permute" in line and len(sizes) != 4:
            continue
        x = torch.rand(sizes)
        real = eval(line, {"torch": torch, "nn": torch.nn, "x": x, "y": x})
        many = len(said) if isinstance(said, tuple) else len(sizes) + said.more - given.more  # type: ignore[union-attr]
        assert many == real.dim()
        assert isinstance(said, tuple) or said.of is given.of  # type: ignore[union-attr]
