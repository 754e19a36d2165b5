"""One item to which a loop adds."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis.combining.items import item_of, zero_before
from tests.analysis.cells import program

LOOP = "for x in data:\n    {}\n"


def loop_of(text: str) -> ast.stmt:
    return next(n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.For))


@pytest.mark.parametrize(
    ("line", "item"),
    [
        ("losses[epoch] += x", "losses[epoch]"),
        ("losses['train'][epoch] += x", "losses['train'][epoch]"),
        ("losses[epoch] += x; losses[epoch] += 1", "losses[epoch]"),
        ("losses[x] += 1", None),
        ("losses[epoch] += x; losses[0] += 1", None),
        ("losses[now()] += x", None),
        ("losses = losses + x", None),
    ],
)
def test_item_of(line, item):
    assert item_of(loop_of(LOOP.format(line)), "losses") == item


@pytest.mark.parametrize(
    ("text", "zero"),
    [
        ("losses = [0.0] * 3\nfor epoch in range(3):\n    for x in data:\n        losses[epoch] += x", True),
        ("losses = torch.zeros(3)\nfor epoch in range(3):\n    for x in data:\n        losses[epoch] += x", True),
        ("for epoch in range(3):\n    losses[epoch] = 0.0\n    for x in data:\n        losses[epoch] += x", True),
        ("for epoch in range(3):\n    losses[epoch] = 5.0\n    for x in data:\n        losses[epoch] += x", False),
        ("losses = [1.0] * 3\nfor epoch in range(3):\n    for x in data:\n        losses[epoch] += x", False),
        # the same item again in the next turn: it holds what the one before has left
        ("losses = [0.0] * 3\nfor epoch in range(3):\n    for x in data:\n        losses[0] += x", False),
        ("def fit(losses, epoch):\n    for x in data:\n        losses[epoch] += x", False),
    ],
)
def test_zero_before(text, zero):
    made = program(text)
    loop = next(n for n in ast.walk(made.tree) if isinstance(n, ast.For) and isinstance(n.body[-1], ast.AugAssign))
    item = item_of(loop, "losses")
    assert item is not None
    assert zero_before(made, loop, "losses", item) is zero
