"""What the entries of Python's own functions say of samples, on real numbers in equal and unequal shares."""

from __future__ import annotations

from functools import cache

import pytest

from nbddp.analysis.library import Samples, effect_of
from nbddp.analysis.library.lookup import BUILTINS, ENTRIES
from nbddp.analysis.values import Value
from tests.analysis.library.shares import SHARES, claims, false

NAMES = [n for n in (*BUILTINS, *(e for e in ENTRIES if e.startswith(("copy.", "statistics."))))
         if effect_of(n).samples is not Samples.EACH]  # fmt: skip


def forms(name: str) -> list[str]:
    given = ["x", "x.tolist()", "x[:, 0].tolist()", "x.sum()", "x.mean()", "(x > 0).sum()", "x.mean(0)", "len(x)"]
    return [f"{name}({x})" for x in given if (name, x) != ("int", "x.sum()")]  # taken for a count


@cache
def said() -> dict[str, Value]:
    return claims(form for name in NAMES for form in forms(name))


@pytest.mark.parametrize("shares", SHARES, ids=str)
@pytest.mark.parametrize("name", NAMES)
def test_what_is_said_of_samples_is_so(name, shares):
    assert false(said(), forms(name), shares) == []
