"""Variables that count the turns of a `while` loop."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis.loaders.while_counters import Counter, while_counter
from tests.analysis.cells import program


def counter(text: str) -> Counter | None:
    made = program(text)
    loop = next(n for n in ast.walk(made.tree) if isinstance(n, ast.While))
    return while_counter(made, loop)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("epoch = 0\nwhile epoch < 3:\n    train()\n    epoch += 1", Counter("epoch", 0)),
        ("epoch = 1\nwhile True:\n    epoch += 1\n    if epoch > 3:\n        break", Counter("epoch", 1)),
        ("n = 0\nwhile n < 3:\n    for x in data:\n        continue\n    n += 1", Counter("n", 0)),
    ],
)
def test_a_counter(text, found):
    assert counter(text) == found


@pytest.mark.parametrize(
    "text",
    [
        "epoch = 0\nwhile epoch < 3:\n    if bad:\n        continue\n    epoch += 1",
        "epoch = 0\nwhile epoch < 3:\n    epoch += 2",
        "epoch = 0\nwhile epoch < 3:\n    epoch += 1\n    if bad:\n        epoch = 0",
        "epoch = 0\nwhile epoch < 3:\n    if good:\n        epoch += 1",
        "epoch = start()\nwhile epoch < 3:\n    epoch += 1",
        "epoch = 0.0\nwhile epoch < 3:\n    epoch += 1",
        "epoch = True\nwhile epoch < 3:\n    epoch += 1",
    ],
)
def test_what_may_count_otherwise_is_none(text):
    assert counter(text) is None


@pytest.mark.parametrize(
    ("first", "begun", "done"),
    [(0, "epoch", "epoch - 1"), (1, "epoch - 1", "epoch - 2"), (5, "epoch - 5", "epoch - 6")],
)
def test_the_position_of_a_turn_from_0(first, begun, done):
    found = Counter("epoch", first)
    assert (found.begun(), found.done()) == (begun, done)
    assert eval(found.begun(), {"epoch": first}) == 0
    assert eval(found.done(), {"epoch": first + 1}) == 0
