"""An evaluation that draws random numbers is dealt out only where nothing else goes by them."""

from __future__ import annotations

import pytest

from nbddp.options import Options
from tests.analysis.cells import BEFORE, plan

DATA = """import random
import numpy as np
rng = np.random.default_rng(0)
from torch.utils.data import Dataset
class Flipped(Dataset):
    def __len__(self):
        return 20
    def __getitem__(self, i):
        return (torch.zeros(8) if random.random() < 0.5 else torch.ones(8)), i % 2
def collate(rows):
    return torch.stack([r[0] for r in rows]) * np.random.rand(), torch.tensor([r[1] for r in rows])
def coin(x):
    return x if random.random() < 0.5 else -x
flipped = DataLoader(Flipped(), batch_size=4)
collated = DataLoader(train_set, batch_size=4, collate_fn=collate)
"""
TRAINING = """for epoch in range(3):
    for x, y in train_loader:
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        optimizer.step()
    right = 0
    with torch.no_grad():
        for x, y in {}:
            right += (model({}).argmax(1) == y).sum().item()
    print(right)
"""


@pytest.mark.parametrize(
    ("loader", "given", "exact", "whole"),
    [
        ("test_loader", "x", False, False),
        ("test_loader", "coin(x)", False, True),
        ("test_loader", "x * np.random.rand()", False, True),
        ("test_loader", "x * rng.random()", False, True),
        ("test_loader", "x + torch.randn_like(x)", False, False),  # noise: each rank has its own
        ("flipped", "x", False, False),
        ("test_loader", "x", True, False),
        ("test_loader", "x + torch.randn_like(x)", True, True),
        ("flipped", "x", True, True),
        ("collated", "x", True, True),
    ],
)
def test_an_evaluation(loader: str, given: str, exact: bool, whole: bool) -> None:
    made = plan(*BEFORE, DATA, TRAINING.format(loader, given), options=Options(exact=exact or None))
    assert bool(made.assumed.whole) is whole
