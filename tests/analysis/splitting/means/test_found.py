"""Means that count by how many samples a rank has."""

from __future__ import annotations

import pytest

from nbddp.analysis.splitting import means_of
from tests.analysis.splitting.steps import planned


@pytest.mark.parametrize(
    ("lines", "born", "counts"),
    [
        ("loss = F.mse_loss(model(x), t)", ["F.mse_loss(model(x), t)"], []),
        ("loss = 2 * F.mse_loss(model(x), t) + 1", ["F.mse_loss(model(x), t)"], []),
        ("loss = ((model(x) - t) ** 2).sum()", [], []),
        ("loss = ((model(x) - t) ** 2).sum() / len(x)", ["((model(x) - t) ** 2).sum() / len(x)"], []),
        ("loss = F.mse_loss(model(x), t)\nall_of = loss.item() * len(x)", ["F.mse_loss(model(x), t)"], ["len(x)"]),
    ],
)
def test_where_a_mean_comes_about(lines, born, counts):
    made = planned(f"x, t = X[step:], y[step:]\n{lines}")
    means = means_of(made, made.assumed.splits[0])
    assert [made.program.source(n) for n in means.born] == born
    assert [made.program.source(n) for n in means.counts] == counts


def test_out_of_a_tuple():
    made = planned(
        "x, t = X[step:], y[step:]\nout, loss = both(x, t)",
        before="def both(x, t):\n    out = model(x)\n    return out, F.mse_loss(out, t)",
    )
    (found,) = means_of(made, made.assumed.splits[0]).unpacked
    assert found[1] == "loss"


@pytest.mark.parametrize(
    ("kept", "read"),
    [
        ("log.append(mse.item())", "loss, other = loss_of(X[i], y[i])"),
        ("log.append(mse.item())", "given = loss_of(X[i], y[i])\nloss = given[0]"),
        ("model.losses['mse'] = mse", "loss_of(X[i], y[i])\nloss = total()"),
    ],
)
def test_what_is_weighed_in_a_function_is_not_weighed_once_more(kept, read):
    """With unlike shares it was: 1.0466 instead of 1.0464 after a step."""
    before = (
        "log, model.losses = [], {}\ndef total():\n    return sum(model.losses.values())\n"
        f"def loss_of(x, t):\n    mse = F.mse_loss(model(x), t)\n    {kept}\n    return mse, mse.item()"
    )
    made = planned(f"i = torch.randperm(100)[:11]\n{read}\nprint(log, model.mse)", before=before)
    means = means_of(made, made.assumed.splits[0])
    assert [made.program.source(one.node) for one in means.inner] == ["F.mse_loss(model(x), t)"]
    assert (means.born, means.unpacked) == ((), ())
