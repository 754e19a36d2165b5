"""Where a mean comes about."""

from __future__ import annotations

import ast

from nbddp.analysis.splitting import means_in, means_of
from tests.analysis.splitting.steps import planned


def test_a_mean_over_some_samples_is_seen_also_where_others_are_evaluated_by_the_same_function():
    before = "V = torch.rand(7, 4)\ndef gap(x):\n    out = model(x)\n    return (out - 1).pow(2).mean()"
    made = planned("valid = gap(V)\nloss = model(X).mean() + gap(X[X[:, 0] > 0.5])", before=before)
    (outer,) = (n for n in means_of(made, made.assumed.splits[0]).born if made.program.source(n).startswith("gap(X"))
    assert [made.program.source(n) for n in means_in(made, outer)] == ["(out - 1).pow(2).mean()"]


METER = """class Meter:
    sum = n = 0
    def add(self, value, n):
        self.sum += value * n
        self.n += n
        self.mean = self.sum / self.n
meter = Meter()
def loss_of(x, t):
    mse = F.mse_loss(model(x), t)
    meter.add(mse.item(), len(x))
    return mse"""


def test_an_average_of_what_has_been_weighed_is_none():
    made = planned("i = torch.randperm(100)[:11]\nloss = loss_of(X[i], y[i])\nprint(meter.mean)", before=METER)
    (call,) = (n for n in made.nodes() if isinstance(n, ast.Call) and made.program.source(n).startswith("loss_of("))
    assert [made.program.source(n) for n in means_in(made, call)] == ["F.mse_loss(model(x), t)"]
