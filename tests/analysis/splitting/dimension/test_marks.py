"""Marks that say which dimension counts the samples; those that do nothing are found."""

from __future__ import annotations

import pytest

from nbddp.analysis.splitting import unused_marks
from tests.analysis.cells import plan
from tests.analysis.splitting.steps import planned

STEP = "idx = torch.randint(0, 100, (8,))\nloss = F.mse_loss(model(X[idx]), y[idx])"


@pytest.mark.parametrize(
    ("mark", "unused"),
    [
        ("# ddp: samples in dim 0", False),
        ("# ddp: samples in dim 1", False),
        ("# ddp: samples in dimensions 1", True),
        ("# ddp: samples along 1", True),
        ("# samples in dim 1", False),
    ],
)
def test_a_mark_that_is_not_understood_is_found(mark, unused):
    made = planned(f"{STEP}  {mark}")
    assert bool([*unused_marks(made, made.assumed.splits)]) is unused


def test_a_mark_beside_no_split_is_found():
    made = planned(f"{STEP}  # ddp: samples in dim 1")
    ((cell, _, text),) = unused_marks(made, ())
    assert cell.number == 1
    assert text.endswith("# ddp: samples in dim 1")


@pytest.mark.parametrize("at", ["step", "training"])
def test_a_mark_in_the_cell_of_the_step_or_of_the_training(at):
    """The step may be in a function of an earlier cell."""
    mark = "  # ddp: samples in dim 1"
    step = f"""def step(texts, labels):
    loss = F.cross_entropy(model(texts)[0], labels){mark if at == "step" else ""}
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()"""
    data = """import torch, torch.nn as nn, torch.nn.functional as F
texts, labels = torch.rand(5, 40, 3), torch.rand(40, 4)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(3, 4)
    def forward(self, x):
        return self.rnn(x)[1][0]
model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)"""
    run = f"for i in range(4):\n    step(texts[:, i : i + 9], labels[i : i + 9]){mark if at == 'training' else ''}"
    made = plan(data, step, run)
    assert [s.dim for s in made.assumed.splits] == [1], made.assumed.unsplit
    assert not [*unused_marks(made, made.assumed.splits)]
