"""What the entries of torch say of samples, on real tensors in equal and unequal shares."""

from __future__ import annotations

from functools import cache

import pytest

from nbddp.analysis.library import Samples, effect_of
from nbddp.analysis.library.lookup import ENTRIES
from nbddp.analysis.values import Extent, Value
from tests.analysis.library.shares import SHARES, claims, false

KEEPS = [n for n in ENTRIES if n.startswith("torch.") and effect_of(n).samples is Samples.KEEPS]
KEEPS = [n for n in KEEPS if not n.startswith("torch.utils")]  # which is given a function
JOINS = [n for n in ENTRIES if n.startswith("torch.") and effect_of(n).samples is Samples.JOINS]
MAKERS = ["torch.zeros", "torch.ones", "torch.full", "np.zeros", "np.ones", "np.full"]
# What each loss is given, of x and y with a row for each sample.
LOSSES = {
    "cross_entropy": "x, y.argmax(1)",
    "mse_loss": "x, y",
    "l1_loss": "x, y",
    "smooth_l1_loss": "x, y",
    "huber_loss": "x, y",
    "nll_loss": "x, y.argmax(1)",
    "binary_cross_entropy": "x.sigmoid(), y.sigmoid()",
    "binary_cross_entropy_with_logits": "x, y.sigmoid()",
    "kl_div": "x, y.sigmoid()",
    "cosine_embedding_loss": "x, y, y.argmax(1)",
    "hinge_embedding_loss": "x, y.sign()",
    "margin_ranking_loss": "x, y, y.sign()",
    "multi_margin_loss": "x, y.argmax(1)",
    "multilabel_margin_loss": "x, y.argsort(1)",
    "multilabel_soft_margin_loss": "x, y.sigmoid()",
    "poisson_nll_loss": "x, y",
    "gaussian_nll_loss": "x, y, y.sigmoid()",
    "soft_margin_loss": "x, y.sign()",
    "triplet_margin_loss": "x, y, y.exp()",
    "triplet_margin_with_distance_loss": "x, y, y.exp()",
}
REDUCTIONS = ("", ', reduction="mean"', ', reduction="sum"', ', reduction="none"')


def forms(name: str) -> list[str]:
    if name in LOSSES:
        return [f"F.{name}({LOSSES[name]}{how})" for how in REDUCTIONS]
    if name in MAKERS:
        filled = ", 2.0" if name.endswith("full") else ""
        return [f"{name}((len(x), 3){filled})", f"{name}((3, 2){filled})", f"{name}((x.shape[0], 3){filled})"]
    if name in JOINS:
        return [f"{name}([{a}, {b}])" for a, b in (("x.sum(0)", "y.sum(0)"), ("x.mean(0)", "y.mean(0)"))]
    return [f"{name}({x})" for x in ("x", "x.mean(0)", "(x > 0).sum(0)", "x.sum()", "x.mean()")]


@cache
def said() -> dict[str, Value]:
    return claims(form for name in (*LOSSES, *KEEPS, *JOINS, *MAKERS) for form in forms(name))


@pytest.mark.parametrize("shares", SHARES, ids=str)
@pytest.mark.parametrize("name", [*LOSSES, *KEEPS, *JOINS, *MAKERS])
def test_what_is_said_of_samples_is_so(name, shares):
    assert false(said(), forms(name), shares) == []


@pytest.mark.parametrize("name", LOSSES)
def test_a_loss_is_a_mean_where_nothing_else_is_asked_for(name):
    assert [said()[form.replace('"', "'")].extent for form in forms(name)] == [
        Extent.MEAN,
        Extent.MEAN,
        Extent.SUM,
        Extent.SAMPLES,
    ]


def test_every_loss_is_run_here():
    named = {n.removeprefix("torch.nn.functional.") for n in ENTRIES if effect_of(n).samples is Samples.LOSS}
    assert named - LOSSES.keys() == {"ctc_loss"}  # whose lengths are arguments, too
