"""Numbers of samples beside a mean."""

from __future__ import annotations

import pytest

from nbddp.analysis.splitting import means_of
from tests.analysis.splitting.steps import planned


@pytest.mark.parametrize(
    ("kept", "beside"),
    [
        ("meter.update(mse.item(), len(x))", ["len(x)"]),
        ("note(mse.item(), len(x))", ["len(x)"]),
        ("log.append(mse.item() * x.size(0))", ["x.size(0)"]),
        ("log.append(mse.item())\n    log.append(len(x))", []),
    ],
)
def test_counts_beside_a_mean_that_a_function_weighs(kept, beside):
    """Once, where they are counted, and not where what they are handed on to multiplies by them."""
    before = (
        "log = []\nclass Meter:\n    def update(self, value, n):\n        self.sum = value * n\nmeter = Meter()\n"
        "def note(value, n):\n    meter.update(value, n)\n"
        f"def loss_of(x, t):\n    mse = F.mse_loss(model(x), t)\n    {kept}\n    return mse"
    )
    made = planned("i = torch.randperm(100)[:11]\nloss = loss_of(X[i], y[i])\nprint(log, meter.sum)", before=before)
    means = means_of(made, made.assumed.splits[0])
    assert [made.program.source(one) for one in means.beside] == beside


@pytest.mark.parametrize(
    ("line", "counts"),
    [
        ("meter.add(loss.item() * len(x), len(x))", ["len(x)", "len(x)"]),
        ("meter.add((model(x) > t).sum().item(), len(x))", ["len(x)"]),
        ("meter.seen += len(x)", ["len(x)"]),
        ("seen = len(x)", []),
        ("meter.add(len(x), step)", []),
    ],
)
def test_counts_of_a_step(line, counts):
    """By which what holds them divides, on each rank."""
    before = "class Meter:\n    seen = 0\n    def add(self, total, n):\n        self.mean = total / n\nmeter = Meter()"
    made = planned(f"x, t = X[step:], y[step:]\nloss = F.mse_loss(model(x), t)\n{line}", before=before)
    assert [made.program.source(n) for n in means_of(made, made.assumed.splits[0]).counts] == counts
