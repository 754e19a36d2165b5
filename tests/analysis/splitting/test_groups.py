"""Batches of unlike sizes in one step."""

from __future__ import annotations

import pytest

from nbddp.analysis.splitting import groups_of
from tests.analysis.splitting.steps import planned

BEFORE = "from drawing import draw\nn = 50"


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("loss = F.mse_loss(model(x), t) + model(u).pow(2).mean()", [{"x", "t"}, {"u"}]),
        ("loss = F.mse_loss(model(x), t) + (model(u) - w).abs().mean()", [{"x", "t"}, {"u", "w"}]),
        ("loss = F.mse_loss(model(x), torch.ones(n, 1)) + F.mse_loss(model(u), torch.zeros(n, 1))", [{"x", "u"}]),
        ("loss = F.mse_loss(model(x), torch.ones(n, 1)) + F.mse_loss(model(u), torch.zeros(9, 1))", [{"x"}, {"u"}]),
        ("loss = (model(x) - t + model(u)).abs().mean()", [{"x", "t", "u"}]),
        ("out = model(x) * model(u)\nloss = F.mse_loss(out, t)", [{"x", "t", "u"}]),
        ("loss = F.mse_loss(model(x), t) + model(u).pow(2).sum()", [{"x", "t", "u"}]),
        ("loss = F.mse_loss(model(x), t) + model(u).pow(2).mean()\nprint(loss * len(x))", [{"x", "t", "u"}]),
    ],
)
def test_what_is_as_many(lines, expected):
    made = planned(f"x, t, w, u = draw(X, y)\n{lines}", before=BEFORE)
    parts = groups_of(made, made.assumed.splits[0]).parts
    assert [{k for k in part if isinstance(k, str) and k.isidentifier()} for part in parts] == expected
