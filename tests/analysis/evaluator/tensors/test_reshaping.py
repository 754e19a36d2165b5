"""What methods and functions make of shapes: each row is compared with what torch makes of it."""

from __future__ import annotations

import ast
import re

import einops
import pytest
import torch

from nbddp.analysis.values import AsMany, Several
from tests.analysis.cells import BEFORE, plan

SIZES = {"x": (10, 8), "z": (10, 4, 3)}
DATA = """
import einops
z = torch.randn(100, 4, 3)
w = torch.zeros(8)
loader = DataLoader(TensorDataset(torch.randn(100, 8), z), batch_size=10)
"""
LOOP = """
for x, z in loader:
    loss = model(x).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    found = {line}
"""
LINES = """
x.sum(1)
x.mean(-1, keepdim=True)
z.sum((1, 2))
z.std(dim=(-1, -2))
x.max(1)
x.max(1)[0]
x.max(dim=1, keepdim=True).values
torch.max(x, 1)
x.argmax(-1)
x.topk(3, 1)
x.sort(-1)
z.median(2)
x.kthvalue(2, 1)
x.view(-1, 2, 4)
x.reshape(len(x), 8, 1)
z.flatten(1)
z.flatten()
torch.flatten(z, 1)
x.unsqueeze(1)
x.unsqueeze(-1)
torch.unsqueeze(x, 0)
x.unsqueeze(1).squeeze(1)
x.unsqueeze(-1).squeeze()
x[:, :1].squeeze(1)
z.transpose(1, 2)
z.permute(0, 2, 1)
z.permute(2, 0, 1)
x.T
z.mT
x.t()
x[:, 0]
x[:, None]
x[None]
x[..., 0]
x[:, 2:5]
z[:, -1, :]
x[x[:, 0] > 0]
x[:, [0, 1]]
z[:, :, 0]
x.select(1, 0)
x * 2
x + w
x[:, None] - x
x @ torch.zeros(8, 5)
z.matmul(torch.zeros(3, 2))
x @ w
torch.relu(x)
x.softmax(1)
x.logsumexp(1)
torch.logsumexp(z, dim=(1, 2))
F.cosine_similarity(z, z, dim=2)
x > 0
x == x[:, :1]
torch.where(x > 0, x, w)
torch.maximum(x, w)
x.float().detach()
x.clone().to("cpu")
torch.stack([x, x])
torch.stack([x, x], 1)
torch.cat([x, x], 1)
torch.zeros(3, 4)
torch.zeros(3, 4) + 1
torch.zeros((len(x), max(map(len, [x, z]))))
x.new_tensor([[1.0, 2.0]])
torch.ones((3, 4))
torch.randint(0, 3, (7,))
torch.arange(5)
torch.eye(3)
nn.Linear(8, 3)(x)
nn.Flatten()(z)
nn.Flatten(0)(z)
nn.Sequential(nn.Linear(8, 3), nn.ReLU(), nn.Linear(3, 1))(x)
nn.Sequential(nn.Linear(8, 3), nn.ReLU(), nn.Linear(3, 1))(x).squeeze()
nn.Conv1d(4, 2, 2)(z)
x.cumsum(1)
x.gather(1, x.argmax(1)[:, None])
x.repeat(2, 1)
x.repeat(1, 3, 1)
z.unsqueeze(1).repeat(1, 5, 1, 1)
einops.rearrange(z, "b t c -> t b c")
einops.rearrange(z, "b t c -> (b t) c")
einops.rearrange(z, "b (t s) c -> b t s c", s=2)
einops.rearrange(x, "b c -> b () c")
einops.reduce(z, "b t c -> b c", "max")
einops.repeat(x, "b c -> b t c", t=3)
x.expand(10, 8)
x.sum()
-x
abs(x)
""".strip().splitlines()


@pytest.mark.parametrize("line", LINES)
def test_what_is_said_of_a_shape_is_so(line: str) -> None:
    made = plan(*BEFORE, DATA, LOOP.format(line=line))
    (node,) = [n for n in made.program.nodes if isinstance(n, ast.Assign) and ast.unparse(n.targets[0]) == "found"]
    said = made.facts.value(node.value).shape
    said = None if isinstance(said, AsMany) else said
    names = {key: torch.rand(sizes) for key, sizes in SIZES.items()}
    modules = {"einops": einops, "torch": torch, "nn": torch.nn, "F": torch.nn.functional}
    real = eval(line, {**modules, "w": torch.zeros(8), **names})
    shapes = [part.shape for part in real] if isinstance(real, tuple) else [real.shape]
    for one, shape in zip(said.of if isinstance(said, Several) else [said], shapes, strict=True):
        if one is not None:
            assert len(one) == len(shape), (said, shapes)
            assert all(a in (None, b) for a, b in zip(one, shape, strict=True)), (said, shapes)
    assert said is not None or re.match("x.repeat|x.gather|abs|x..., ", line), "nothing is known"
