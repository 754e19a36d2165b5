"""A batch without a name of its own is drawn once, in the step, before it is split."""

from __future__ import annotations

import pytest

from nbddp.analysis.splitting import named_before
from tests.analysis.splitting.steps import planned

ROWS = "torch.randn(64, 4)"
PICKED = "X[torch.randint(0, 100, (16,))]"


@pytest.mark.parametrize("batch", [ROWS, PICKED])
def test_it_is_named_in_the_turn(batch):
    made = planned(f"loss = model({batch}).square().mean()")
    (split,) = made.assumed.splits
    assert [made.program.source(n) for n in named_before(made, split)] == [batch]
    assert made.program.source(split.at).startswith("loss =")


@pytest.mark.parametrize(
    "loss",
    [
        f"[model({PICKED}).mean() for i in range(2)][1]",
        f"model({PICKED}).mean() if step else model({PICKED}).sum()",
        f"torch.rand(1) * model({PICKED}).mean()",  # which is drawn before it
        "model(torch.randn(1, 4)).mean()",
        "model(torch.randn(4)).mean()",
    ],
)
def test_what_cannot_be_named_before(loss):
    assert planned(f"loss = {loss}").assumed.splits == ()


def test_what_has_a_name_is_split_by_it():
    made = planned(f"x = {PICKED}\nloss = model(x).mean()")
    (split,) = made.assumed.splits
    assert (split.names, named_before(made, split)) == (("x",), [])
