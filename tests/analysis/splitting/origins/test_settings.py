"""What a step is given beside its samples is not dealt out."""

from __future__ import annotations

import pytest

from tests.analysis.cells import plan
from tests.analysis.splitting.steps import DATA, cut, planned

NET = """def scaled(x, factors):
    for factor in factors:
        x = x * factor
    return x
def turned(x, tools):
    for tool in tools:
        x = tool(x)
    return x
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(4, 4), nn.Linear(4, 1)
        self.given = {given}
        self.optimizer = torch.optim.SGD(self.parameters(), lr=0.1)
    def fit(self):
        for step in range(3):
            z = {how}(self.first(torch.randn(6, 4)), self.given)
            loss = self.last(z).pow(2).mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
Net().fit()
"""


@pytest.mark.parametrize(
    ("how", "given"),
    [
        ("scaled", "[2.0, 0.5]"),
        ("scaled", "torch.tensor([2.0, 0.5])"),
        ("turned", "[torch.tanh, torch.exp]"),
    ],
)
def test_settings_and_tools_that_are_gone_through(how: str, given: str) -> None:
    assert cut(plan(DATA + NET.format(how=how, given=given))) == ["torch.randn(6, 4)"]


def test_an_empty_list_is_filled_later() -> None:
    filled = "rows = []\nfor number in range(50):\n    rows.append([float(number % k) for k in (2, 3, 5, 7)])"
    made = planned("loss = model(torch.tensor(rows)).pow(2).mean()", before=filled)
    assert cut(made) == ["rows"]


def test_what_is_gathered_for_each_is_a_batch() -> None:
    """Samples that a function goes through one by one, of which it makes something for each."""
    predict = """w = torch.randn(4, 1, requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.1)
def predict(samples):
    found = []
    for sample in samples:
        found.append(sample @ w)
    return torch.stack(found)"""
    assert cut(planned("loss = F.mse_loss(predict(X), y)", before=predict)) == ["X", "y"]
