"""Means that a function of the step keeps, or gives in one thing."""

from __future__ import annotations

import pytest

from nbddp.analysis.splitting import means_of
from tests.analysis.splitting.steps import planned


@pytest.mark.parametrize(
    ("kept", "weighed_inside"),
    [
        ("log.append(e.item())", True),
        ("into = log\n    into.append(e.item())", True),
        ("into = kept['all']\n    into.append(e.item())", True),
        ("into = []\n    into.append(e.item())", False),
        ("last = e.item()", False),
        ("e.backward()", True),
    ],
)
def test_what_a_function_keeps_by_another_name_is_weighed_inside(kept, weighed_inside):
    made = planned(
        "x, t = X[step:], y[step:]\nloss = criterion(model(x), t, log)",
        before="log, kept = [], {'all': []}\n\n\ndef criterion(out, y, log):\n    e = F.mse_loss(out, y)\n"
        f"    {kept}\n    return e + 0.1 * out.pow(2).mean()\n",
    )
    means = means_of(made, made.assumed.splits[0])
    assert bool(means.inner) is weighed_inside
    assert [made.program.source(n) for n in means.born] == ([] if weighed_inside else ["criterion(model(x), t, log)"])


@pytest.mark.parametrize("info", ["{'mse': mse.item(), 'n': 1.0}", "[mse.item(), 1.0]", "(mse.item(), 1.0)"])
@pytest.mark.parametrize("more", ["kept.append(info)", "print(info[0])"])
def test_means_that_a_function_gives_in_one_thing_are_weighed_where_they_come_about(info, more):
    """Read later, or in another place: there nothing would weigh them."""
    before = f"kept = []\ndef loss_of(x, t):\n    mse = F.mse_loss(model(x), t)\n    return mse, {info}"
    more = more.replace("[0]", "['mse']") if "{" in info else more
    made = planned(f"i = torch.randperm(100)[:11]\nloss, info = loss_of(X[i], y[i])\n{more}", before=before)
    (split,) = made.assumed.splits
    means = means_of(made, split)
    assert [made.program.source(one.node) for one in means.inner] == ["F.mse_loss(model(x), t)"]
    assert (means.born, means.unpacked) == ((), ())
