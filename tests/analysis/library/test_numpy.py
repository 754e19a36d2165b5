"""What the entries of numpy and sklearn say of samples, on real numbers in equal and unequal shares."""

from __future__ import annotations

from functools import cache

import pytest

from nbddp.analysis.library import Samples, effect_of
from nbddp.analysis.library.lookup import ENTRIES
from nbddp.analysis.values import Extent, Value
from tests.analysis.library.shares import SHARES, claims, false

KEEPS = [n for n in ENTRIES if n.startswith("numpy.") and effect_of(n).samples is Samples.KEEPS]
JOINS = [n for n in ENTRIES if n.startswith("numpy.") and effect_of(n).samples is Samples.JOINS]
MIXES = [n for n in ENTRIES if n.startswith("numpy.") and effect_of(n).samples in (Samples.MIXES, Samples.COUNT)]
SCORES = [n for n in ENTRIES if effect_of(n).samples is Samples.SCORE]
OTHERS = ["sklearn.metrics.f1_score", "sklearn.metrics.r2_score", "sklearn.metrics.recall_score"]
GIVEN = {"log_loss": "(x > 0)[:, 0], y[:, :1].sigmoid().tolist()", "mean_squared_error": "x, y",
         "mean_absolute_error": "x, y", "r2_score": "x, y"}  # fmt: skip


def forms(name: str) -> list[str]:
    if name in (*SCORES, *OTHERS):
        given = GIVEN.get(name.rpartition(".")[2], "(x > 0)[:, 0], (y > 1)[:, 0]")
        return [f"{name}({given})", f"{name}({given}, normalize=False)"]
    name = name.replace("numpy", "np")
    if name == "np.average":
        return [f"{name}(x.numpy())", f"{name}(x.numpy(), 0)", f"{name}(x.numpy(), 1)", f"{name}(x.numpy(), axis=0)"]
    if name.replace("np", "numpy") in JOINS:
        return [f"{name}([{a}, {b}])" for a, b in (("x.sum(0)", "y.sum(0)"), ("x.mean(0)", "y.mean(0)"))]
    if name.replace("np", "numpy") in MIXES:
        return [f"{name}({x})" for x in ("x.numpy()", "x.numpy(), y.numpy()", "x.numpy(), 0", "x[:, 0].numpy()")]
    return [f"{name}({x})" for x in ("x", "x.mean(0)", "(x > 0).sum(0)", "x.sum()", "x.mean()")]


NAMES = [*KEEPS, *JOINS, *MIXES, *SCORES, *OTHERS, "numpy.average"]


@cache
def said() -> dict[str, Value]:
    return claims(form for name in NAMES for form in forms(name))


@pytest.mark.parametrize("shares", SHARES, ids=str)
@pytest.mark.parametrize("name", NAMES)
def test_what_is_said_of_samples_is_so(name, shares):
    assert false(said(), forms(name), shares) == []


def test_scores_are_means():
    assert {said()[forms(name)[0]].extent for name in SCORES} == {Extent.MEAN}
    assert {said()[forms(name)[0]].extent for name in OTHERS} == {Extent.VARYING}
