from __future__ import annotations

import pytest

from nbddp.widget.words import count, number


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.31274, "0.3127"), (12.5, "12.5"), (120.0, "120"), (15_000, "15,000"), (3.1e-5, "3.1e-05"), (2e7, "2e+07")],
)
def test_number(value, text):
    assert number(value) == text


def test_count():
    assert (count(1, "rank"), count(2_000, "rank")) == ("1 rank", "2,000 ranks")
