from __future__ import annotations

import pytest

from nbddp.widget.words import count, duration, number, size


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0.0 s"),
        (4.21, "4.2 s"),
        (9.96, "10 s"),
        (59.4, "59 s"),
        (59.6, "1 min 00 s"),
        (185, "3 min 05 s"),
        (3599.7, "1 h 00 min"),
        (7620, "2 h 07 min"),
        (273_600, "3 d 04 h"),
    ],
)
def test_duration(seconds, text):
    assert duration(seconds) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.31274, "0.3127"), (12.5, "12.5"), (120.0, "120"), (15_000, "15,000"), (3.1e-5, "3.1e-05"), (2e7, "2e+07")],
)
def test_number(value, text):
    assert number(value) == text


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1536, "1.5 KiB"),
        (1_300_000_000, "1.2 GiB"),
        (80 * 2**30, "80 GiB"),
        (2**45, "32768 GiB"),
    ],
)
def test_size(amount, text):
    assert size(amount) == text


def test_count():
    assert (count(1, "rank"), count(2, "rank")) == ("1 rank", "2 ranks")
