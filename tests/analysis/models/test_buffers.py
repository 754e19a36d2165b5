"""What a model keeps of the samples that it has seen."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis.models.buffers import kept_of_shares
from tests.analysis.cells import DATA, IMPORTS, TRAINING, plan

NET = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(8, 2)
        self.register_buffer("mean", torch.zeros(8))
        self.plain = torch.zeros(8)

    def forward(self, x):
        {line}
        return self.inner(x)

model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
"""


def kept(line: str) -> list[str]:
    return [ast.unparse(s) for s in kept_of_shares(plan(IMPORTS, DATA, NET.format(line=line), TRAINING))]


@pytest.mark.parametrize(
    "line",
    [
        "self.mean = x.mean(0)",
        "self.mean[0] += x.sum()",
        "self.mean.mul_(0.9).add_(x.mean(0))",
        "self.mean.data.copy_(x[0])",
    ],
)
def test_a_buffer_that_a_share_changes(line):
    assert kept(line) == [line]


@pytest.mark.parametrize(
    "line",
    [
        "self.mean = self.mean * 0.9",
        "self.mean[0] += 1",
        "self.plain = x.mean(0)",
        "n = self.mean + x",
        "self.mean.zero_()",
    ],
)
def test_what_is_no_buffer_or_the_same_on_all_ranks(line):
    assert kept(line) == []
