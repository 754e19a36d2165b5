"""Which objects count over a loop, from which zero, and are added up behind it."""

from __future__ import annotations

import pytest

from nbddp import Options
from nbddp.analysis.plan import make_plan
from nbddp.notebook import notebook_from_percent

NOTEBOOK = """# %%
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

class Hits:
    def __init__(self):
        self.hits, self.n = 0, 0

    def reset(self):
        START

    def start(self, hits):
        self.hits += hits

    def add(self, output, y):
        self.hits += (output.argmax(1) == y).sum().item()
        self.n += len(y)

    def smoothed(self):
        return self.hits / (self.n + 1)

loader = DataLoader(TensorDataset(torch.randn(48, 4), torch.randint(0, 2, (48,))), batch_size=8)
model = nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
score = Hits()
# %%
for epoch in range(2):
    BEFORE
    for x, y in loader:
        output = model(x)
        loss = nn.functional.cross_entropy(output, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        score.add(output, y)
    print(score.smoothed())
"""


def combined(start: str, before: str) -> list[str]:
    text = NOTEBOOK.replace("START", start).replace("BEFORE", before)
    plan = make_plan(notebook_from_percent(text, "counts.py"), Options())
    return sorted(reduction.name for reduction in plan.facts.reductions.values())


@pytest.mark.parametrize(
    ("start", "before"),
    [
        ("self.hits = self.n = 0", "score.reset()"),
        ("self.__init__()", "score.reset()"),
        ("self.hits, self.n = 0, 0", "score.reset(); total = 0"),
        ("pass", "score = Hits()"),
    ],
)
def test_what_begins_at_zero_is_added_up(start: str, before: str) -> None:
    assert combined(start, before) == ["score.hits", "score.n"]


@pytest.mark.parametrize(
    ("start", "before"),
    [
        ("self.hits = self.n = 0", "pass"),
        ("self.hits = self.n = 0", "score.reset(); score.add(torch.ones(1, 2), torch.ones(1))"),
        ("self.hits = 0", "score.reset()"),
        ("self.hits = self.n = 0; self.n = 1", "score.reset()"),
        ("self.hits = self.n = 0; self.n += 1", "score.reset()"),
        ("self.hits = self.n = 0; self.start(3)", "score.reset()"),
        ("self.hits = self.n = 0; self.unseen()", "score.reset()"),
        ("self.hits, self.n = 0, 2", "score.reset()"),
        ("self.hits = self.n = 0; self.n = 4 if self.hits else 0", "score.reset()"),
        ("self.hits = self.n = 0", "score.reset() if epoch else None"),
        ("self.hits = self.n = 0", "scores = [score]; scores[0].reset()"),
    ],
)
def test_what_may_have_been_counted_before_is_left_alone(start: str, before: str) -> None:
    assert combined(start, before) == []
