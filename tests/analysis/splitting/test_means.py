"""Means that count by how many samples a rank has."""

from __future__ import annotations

import pytest

from nbddp.analysis.splitting import means_in, means_of
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


def test_a_mean_over_some_samples_is_seen_also_where_others_are_evaluated_by_the_same_function():
    before = "V = torch.rand(7, 4)\ndef gap(x):\n    out = model(x)\n    return (out - 1).pow(2).mean()"
    made = planned("valid = gap(V)\nloss = model(X).mean() + gap(X[X[:, 0] > 0.5])", before=before)
    (outer,) = (n for n in means_of(made, made.assumed.splits[0]).born if made.program.source(n).startswith("gap(X"))
    assert [made.program.source(n) for n in means_in(made, outer)] == ["(out - 1).pow(2).mean()"]


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


@pytest.mark.parametrize("info", ["{'mse': mse.item(), 'n': 1.0}", "[mse.item(), 1.0]", "(mse.item(), 1.0)"])
@pytest.mark.parametrize(("more", "handed_on"), [("kept.append(info)", True), ("print(info[0])", False)])
def test_means_that_a_function_gives_in_one_thing_beside_the_loss(info, more, handed_on):
    """Handed on they are read later, where nothing has weighed them: that was another mean, without a word."""
    before = f"kept = []\ndef loss_of(x, t):\n    mse = F.mse_loss(model(x), t)\n    return mse, {info}"
    more = more.replace("[0]", "['mse']") if "{" in info else more
    made = planned(f"i = torch.randperm(100)[:11]\nloss, info = loss_of(X[i], y[i])\n{more}", before=before)
    assert bool(made.assumed.unsplit) is handed_on
