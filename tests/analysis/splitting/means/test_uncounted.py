"""A mean of which it is not seen where it comes about."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis.splitting.means import uncounted
from nbddp.analysis.values import Extent
from tests.analysis.splitting.steps import planned

BEFORE = """log = []
def loss_of(x, t):
    mse = F.mse_loss(model(x), t)
    log.append(mse.item())
    return mse, mse.item()"""


@pytest.mark.parametrize(
    "lines", ["loss, number = loss_of(x, t)", "loss = F.mse_loss(model(x), t)", "loss = loss_of(x, t)[0]"]
)
def test_a_mean_that_is_weighed_somewhere(lines):
    made = planned(f"x, t = X[step : step + 7], y[step : step + 7]\n{lines}\nprint(log)", before=BEFORE)
    (split,) = made.assumed.splits
    assert uncounted(made, split) is None


def test_a_mean_of_which_it_is_not_seen_where_it_comes_about():
    before = "from collections import namedtuple\nGiven = namedtuple('Given', 'loss')\ndef loss_of(x, t):\n"
    made = planned(
        "loss = loss_of(X[step:], y[step:]).loss", before=f"{before}    return Given(F.mse_loss(model(x), t))"
    )
    assert "is not understood as a mean" in made.assumed.unsplit


METER = """class Meter:
    def __init__(self):
        self.hits = self.seen = 0
    def update(self, out, t):
        self.hits += (out > t).sum().item()
        self.seen += t.size(0)
    def mean(self):
        return self.hits / self.seen
meter, other = Meter(), Meter()
"""


@pytest.mark.parametrize(("shown", "uneven"), [("", False), ("other.update(model(X), y)\nprint(other.mean())", True)])
def test_an_average_over_counts_of_which_not_all_are_even(shown: str, uneven: bool) -> None:
    """What counts whole data, too, cannot count even shares alone."""
    lines = "x, t = X[step : step + 7], y[step : step + 7]\nloss = F.mse_loss(model(x), t)\nmeter.update(model(x), t)"
    made = planned(f"{lines}\n{shown}\nprint(meter.mean())", before=METER)
    mean = next(n for n in made.nodes() if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Div))
    assert (made.facts.value(mean).extent is Extent.VARYING) is uneven
