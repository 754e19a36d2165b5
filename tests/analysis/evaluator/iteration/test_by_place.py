"""What a sample has by its place in a batch is another thing on a rank that has some of the samples."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis.values import PLACED, Extent, Value
from tests.analysis.cells import BEFORE, batch, node, plan

TABLE = "table = [0.1, 0.2, 0.3, 0.4]"
NEXT = "numbers = iter(range(100))"
DRAWN = "import random\ndef drawn(k):\n    return random.random() * k"
KEPT = "state = [1.0]\ndef kept():\n    state[0] *= 0.9\n    return state[0]"


def listed(header: str, *lines: str) -> Value:
    """An item of the list `found`, which each turn over the samples appends to."""
    turns = ["    " + line for line in lines]
    step = batch("found, k, rate, sign = [], 0, 1.0, True", f"for {header}:", *turns, "shown = found")
    made = plan(*BEFORE, TABLE, NEXT, DRAWN, KEPT, step)
    (holder,) = made.facts.value(node(made, ast.Assign, "shown = found").value).of("list")
    return made.facts.fields[holder, "[]"]


@pytest.mark.parametrize(
    ("header", "lines"),
    [
        ("t in y", ["k += 1", "found.append(k)"]),
        ("t in y", ["found.append(len(found))"]),
        ("t in y", ["found.append(1 if not found else 3)"]),
        ("t in y", ["rate *= 0.9", "found.append(rate)"]),
        ("t in y", ["sign = not sign", "found.append(1 if sign else 2)"]),
        ("t in y", ["found.append(1 / (1 + next(numbers)))"]),
        ("t in y", ["found.append(kept())"]),
        ("i in range(len(y))", ["found.append(1 / (1 + i))"]),
        ("i in range(len(y))", ["found.append(table[i])"]),
        ("i, t in enumerate(y)", ["found.append(1 / (1 + i))"]),
        ("t, w in zip(y, table)", ["found.append(w)"]),
    ],
)
def test_an_item_goes_by_the_place_of_its_sample(header: str, lines: list[str]) -> None:
    item = listed(header, *lines)
    assert item.extent is Extent.VARYING or item.of(PLACED)


@pytest.mark.parametrize(
    ("header", "lines"),
    [
        ("t in y", ["found.append(1)"]),
        ("t in y", ["found.append(random.random())"]),
        ("t in y", ["found.append(drawn(2))"]),
        ("t in y", ["k += 1", "found.append(t)"]),
        ("i in range(len(y))", ["found.append(y[i])"]),
        ("i, t in enumerate(y)", ["found.append(3 * t)"]),
        ("t, w in zip(y, table)", ["found.append(2)"]),
    ],
)
def test_an_item_is_that_of_its_sample_wherever_it_stands(header: str, lines: list[str]) -> None:
    item = listed(header, *lines)
    assert item.extent is Extent.SAMPLES
    assert not item.of(PLACED)
