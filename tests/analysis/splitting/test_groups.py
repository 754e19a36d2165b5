"""Batches of unlike sizes in one step."""

from __future__ import annotations

import pytest

from nbddp.analysis.splitting import groups_of
from tests.analysis.splitting.steps import planned

BEFORE = "from drawing import draw"


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("loss = F.mse_loss(model(x), t) + model(u).pow(2).mean()", [{"x", "t"}, {"u"}]),
        ("loss = F.mse_loss(model(x), t) + (model(u) - w).abs().mean()", [{"x", "t"}, {"u", "w"}]),
        ("loss = (model(x) - t + model(u)).abs().mean()", [{"x", "t", "u"}]),
        ("out = model(x) * model(u)\nloss = F.mse_loss(out, t)", [{"x", "t", "u"}]),
        ("loss = F.mse_loss(model(x), t) + model(u).pow(2).sum()", [{"x", "t", "u"}]),
        ("loss = F.mse_loss(model(x), t) + model(u).pow(2).mean()\nprint(loss * len(x))", [{"x", "t", "u"}]),
    ],
)
def test_what_is_as_many(lines, expected):
    made = planned(f"x, t, w, u = draw(X, y)\n{lines}", before=BEFORE)
    assert [set(part) for part in groups_of(made, made.assumed.splits[0]).parts] == expected
