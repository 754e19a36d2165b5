"""Means in functions."""

from __future__ import annotations

import pytest

from nbddp.analysis.splitting import means_of
from tests.analysis.splitting.steps import planned


def test_of_what_a_function_has_drawn_where_it_is_called():
    before = (
        "def drawn(n):\n    x = torch.rand(n, 4)\n    return model(x), x\ndef gap(out, x):\n    return (out - x).mean()"
    )
    made = planned("out, x = drawn(25)\nloss = gap(out, x)", before=before)
    means = means_of(made, made.assumed.splits[0])
    assert [(made.program.source(one.node), one.samples) for one in means.inner] == [("gap(out, x)", "out")]


def test_of_what_a_function_has_drawn_and_weighs_itself():
    before = "def loss_of(n):\n    x = torch.rand(n, 4)\n    return model(x).mean()"
    means = means_of(made := planned("loss = loss_of(25)", before=before), made.assumed.splits[0])
    assert ([made.program.source(node) for node in means.born], means.inner) == (["model(x).mean()"], ())


@pytest.mark.parametrize("given", ["nll + penalty", "nll + penalty, nll"])
def test_a_sum_that_a_function_adds_to_something_else_is_not_weighed_outside(given):
    """It adds up however the batch is split; what is a mean beside it is weighed there."""
    made = planned(
        f"x, t = X[step:], y[step:]\nloss{', part' * (',' in given)} = both(x, t)",
        before="def both(x, t):\n    nll = F.mse_loss(model(x), t, reduction='sum')\n"
        f"    penalty = F.l1_loss(model(x), t)\n    return {given}",
    )
    (split,) = made.assumed.splits
    means = means_of(made, split)
    assert ([*means.born], [*means.unpacked]) == ([], [])
    assert [made.program.source(one.node) for one in means.inner] == ["F.l1_loss(model(x), t)"]
