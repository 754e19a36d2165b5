"""Which training loaders go to code that nobody reads."""

from __future__ import annotations

import pytest

from nbddp.analysis.loaders import handed_on
from tests.analysis.cells import plan

CELL = """import itertools

import engine
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

loader = DataLoader(TensorDataset(torch.randn(32, 4), torch.randn(32, 1)), batch_size=8)
other = DataLoader(TensorDataset(torch.randn(32, 4), torch.randn(32, 1)), batch_size=8)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def own(loader):
    return len(loader)


for epoch in range(3):
    for x, y in loader:
        loss = (model(x) - y).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    HERE
print(model(x))
"""


def found(here: str) -> list[str]:
    made = plan(CELL.replace("HERE", here))
    return [made.program.source(node) for call in made.facts.calls.values() for node in handed_on(made, call)]


@pytest.mark.parametrize(
    "here",
    [
        "torch.optim.swa_utils.update_bn(loader, model)",
        "optimizer.rate = engine.evaluate(model, data=loader)",
        "optimizer.rate = engine.Judge(model)(loader)",
        "for x, y in engine.Bar(loader): optimizer.rate = x.sum()",
    ],
)
def test_what_nobody_reads_gets_all_of_it(here):
    assert found(here) == ["loader"]


@pytest.mark.parametrize(
    "here",
    [
        "print(len(loader), isinstance(loader, DataLoader))",
        "optimizer.rate = own(loader)",
        "optimizer.rate = next(iter(loader))[0].sum()",
        "for _, (x, y) in zip(range(2), loader): optimizer.rate = x.sum()",
        "for x, y in itertools.islice(loader, 2): optimizer.rate = x.sum()",
        "optimizer.rate = engine.evaluate(model, other)",
        "optimizer.rate = engine.size(loader.dataset)",
    ],
)
def test_what_is_read_or_another_thing(here):
    assert found(here) == []
