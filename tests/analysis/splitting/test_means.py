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
