"""A draw of so many rows as a full batch has, and whether there is a batch with fewer."""

from __future__ import annotations

import pytest

from tests.analysis.splitting.steps import planned

BEFORE = """a, b = nn.Linear(4, 2), nn.Linear(2, 1)
optimizer = torch.optim.SGD([*a.parameters(), *b.parameters()], lr=0.1)
X = torch.randn({}, 2)
"""


def reason(step: str, count: int) -> str:
    made = planned(step, head=f"for i in range(0, {count}, 10):", before=BEFORE.format(count))
    return str(made.assumed.joined or made.assumed.unsplit)


@pytest.mark.parametrize(
    ("step", "count", "told"),
    [
        ("x, z = X[i : i + 10], torch.randn(10, 4)\nloss = b(x).mean() - b(a(z)).mean()", 46, True),
        ("x, z = X[i : i + 10], torch.randn(10, 4)\nloss = b(x).mean() - b(a(z)).mean()", 50, False),
        ("x = X[i : i + 10]\nz = torch.randn(len(x), 4)\nloss = b(x).mean() - b(a(z)).mean()", 46, False),
        ("x, z = X[i : i + 10], torch.randn(10, 4)\nloss = F.mse_loss(a(z), x) + b(x).mean()", 46, False),
        ("x, z = X[torch.randint(46, (10,))], torch.randn(10, 4)\nloss = b(x).mean() - b(a(z)).mean()", 46, False),
    ],
)
def test_noise_beside_a_batch(step: str, count: int, told: bool) -> None:
    assert ("the last batch may have fewer" in reason(step, count)) is told
