"""Sets, and where one is gone through as it comes."""

from __future__ import annotations

import pytest

from nbddp.analysis.disk.hash_order import may_order_sets, put_in_order
from tests.analysis.cells import DATA, IMPORTS, MODEL, TRAINING, plan


def numbered(text: str) -> list[str]:
    made = plan(
        IMPORTS, f"words = ['a', 'b']\n{text}", DATA, MODEL, TRAINING.replace("loss =", "numbers\n        loss =")
    )
    return [made.program.source(source) for source in put_in_order(made)]


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("numbers = {w: i for i, w in enumerate(set(words))}", "set(words)"),
        ("vocabulary = set(words)\nnumbers = list(vocabulary)", "vocabulary"),
        ("numbers = {}\nfor w in set(words) - {'a'}:\n    numbers[w] = len(numbers)", "set(words) - {'a'}"),
        ("numbers = [hash(w) % 9 for w in words]", "hash(w)"),
        ("numbers = ''.join({w.upper() for w in words})", "{w.upper() for w in words}"),
    ],
)
def test_what_goes_through_a_set_as_it_comes(text, source):
    assert numbered(text) == [source]


@pytest.mark.parametrize(
    "text",
    [
        "numbers = {w: i for i, w in enumerate(sorted(set(words)))}",
        "numbers = len(set(words))",
        "numbers = [w for w in words if w in {'a'}]",
        "numbers = [i for i in {1, 2}]",
    ],
)
def test_where_the_order_is_no_matter(text):
    assert numbered(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("numbers = list(set(words))", True),
        ("numbers = len(set(words))", False),
        ("numbers = sorted(list(set(words)))", False),
        ("numbers = sorted(tuple(set(words)))", False),
        ("numbers = max(map(len, list(set(words))))", True),
        ("numbers = hash(words[0])", True),
        ("numbers = list(map(set, words))", True),
        ("numbers = {1, 2}", False),
        ("from words import numbers", True),
    ],
)
def test_whether_there_may_be_one(text, expected):
    made = plan(
        IMPORTS, f"words = ['a', 'b']\n{text}", DATA, MODEL, TRAINING.replace("loss =", "numbers\n        loss =")
    )
    assert may_order_sets(made) == expected
