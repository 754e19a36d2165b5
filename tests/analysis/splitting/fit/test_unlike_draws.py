"""Batches that each rank would draw by what it has found in its own samples: none that all draw alike."""

from __future__ import annotations

import pytest

from tests.analysis.splitting.steps import planned

BEFORE = """class Replay:
    def __init__(self):
        self.errors = np.ones(64)
    def draw(self):
        return np.random.choice(64, 8, p=self.errors / self.errors.sum())
    def tell(self, rows, errors):
        self.errors[rows] = errors
replay = Replay()
chance = {"p": 0.5}
gains = [1.0, 1.0]
"""


@pytest.mark.parametrize(
    ("lines", "by"),
    [
        ("i = replay.draw()\nloss = F.mse_loss(model(X[i]), y[i])\nreplay.tell(i, (model(X[i]) - y[i]).numpy())",
         "replay.draw()"),
        ("i = replay.draw()\nloss = F.mse_loss(model(X[i]), y[i])", ""),
        ("a = X[:8] if np.random.rand() < chance['p'] else X[8:]\nloss = model(a).mean()\nchance['p'] = loss.item()",
         "X[:8] if np.random.rand() < chance['p'] else X[8:]"),
        (("a = X[[i for i in range(64) if np.random.rand() < chance['p']]]\nloss = model(a).mean()\n"
         "chance['p'] = loss.item()"), "X[[i for i in range(64) if np.random.rand() < chance['p']]]"),
        (("k = random.choices([0, 1], weights=gains)[0]\na = X[k * 8:k * 8 + 8]\nloss = model(a).mean()\n"
         "gains[k] = loss.item()"), "X[k * 8:k * 8 + 8]"),
        (("k = random.choices([0, 1], weights=gains)[0]\nloss = model(X[k * 8:k * 8 + 8]).mean()\n"
         "gains[k] = loss.item()"), "X[k * 8:k * 8 + 8]"),
        ("a = X[torch.randint(64, (8,))]\nloss = model(a).mean()\nchance['p'] = loss.item()", ""),
    ],
)  # fmt: skip
def test_what_is_drawn_by_a_ranks_own(lines: str, by: str) -> None:
    made = planned(lines, head="for _ in range(9):", before=f"import random\nimport numpy as np\n{BEFORE}")
    reason = f"'{by}' is drawn by what a rank has found in its own samples, so that each would draw another batch"
    assert str(made.assumed.unsplit) == (reason if by else "")
