"""Which live objects go into which loop, read off the plan."""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from pathlib import Path

import pytest
import torch

from nbddp.analysis.plan import Plan
from nbddp.cli.parse import Refusal
from nbddp.export import export
from nbddp.magics.handover import handover
from nbddp.notebook import Notebook, cell_from_source

NOTEBOOKS = sorted((Path(__file__).parents[1] / "e2e" / "notebooks").glob("*.py"))
BEFORE = """\
import torch
from torch.utils.data import DataLoader, TensorDataset
half = lambda tensor: tensor / 2
x, y = map(lambda shape: half(torch.randn(*shape)), ((64, 4), (64, 1)))
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)"""
TRAIN = """\
%%ddp_train
for epoch in range(2):
    for x, y in DataLoader(TensorDataset(x, y), batch_size=8, shuffle=True):
        optimizer.zero_grad()
        (model(x) - y).square().mean().backward()
        optimizer.step()"""


@cache
def plan_of(before: str) -> Plan:
    plan: Plan = export(Notebook("x.ipynb", (cell_from_source(before, 1), cell_from_source(TRAIN, 2)))).plan
    return plan


def test_functions_without_a_name_are_no_loops():
    model = torch.nn.Linear(4, 1)
    live = {"model": model, "optimizer": torch.optim.SGD(model.parameters(), lr=0.1)}
    assert handover(plan_of(BEFORE), live).loops == {1: live}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_notebook_is_understood_or_refused_in_a_sentence(path):
    with suppress(Refusal):
        assert handover(export(path).plan, {}).loops == {}
