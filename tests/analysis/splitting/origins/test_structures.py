"""Whether a batch is one tensor, or a list or a dictionary of several."""

from __future__ import annotations

import pytest

from nbddp.options import Options
from tests.analysis.cells import DATA, IMPORTS, plan

MODEL = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 2)
    def forward(self, x):
        return self.layer(x)
    def unpacked(self, batch):
        x, y = batch
        return F.cross_entropy(self(x), y)
    def by_key(self, batch):
        return F.cross_entropy(self(batch["x"]), batch["y"])
    def further(self, batch):
        return self.unpacked(batch)
    def plain(self, batch):
        return self(batch).square().mean()
model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
"""


@pytest.mark.parametrize(
    ("method", "lists", "dicts"),
    [
        ("unpacked", {"batch"}, set()),
        ("further", {"batch"}, set()),
        ("by_key", set(), {"batch"}),
        ("plain", set(), set()),
    ],
)
def test_what_takes_it_apart_says_so(method, lists, dicts):
    cell = f"""
    for epoch in range(3):
        for batch in train_loader:
            loss = model.{method}(batch)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    """
    (split,) = plan(IMPORTS, DATA, MODEL, cell, options=Options(exact=True)).assumed.splits
    assert (split.lists, split.dicts) == (lists, dicts)
