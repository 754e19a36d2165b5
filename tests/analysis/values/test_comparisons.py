"""Numbers of a share that a condition compares."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis.values import operands
from nbddp.analysis.values.comparisons import can_be_agreed
from tests.analysis.cells import BEFORE, batch, plan


def compared(test: str) -> tuple[list[str], bool]:
    made = plan(*BEFORE, batch(f"n = 1 if {test} else 2"))
    (node,) = [n.test for n in ast.walk(made.program.tree) if isinstance(n, ast.IfExp)]
    return [ast.unparse(o) for o in operands(made.facts, node)], can_be_agreed(made.facts, node)


@pytest.mark.parametrize(
    ("test", "found"),
    [
        ("loss.item() < 3", ["loss.item()"]),
        ("3 < loss.item() < 5", ["loss.item()"]),
        ("not loss.item() < 3", ["loss.item()"]),
        ("loss.item() < 3 and epoch > 1", ["loss.item()"]),
        ("loss.item() < 3 or (x > 0).sum() > 2", ["loss.item()", "(x > 0).sum()"]),
        ("(loss < 3).item()", ["loss"]),
        ("bool(loss < 3)", ["loss"]),
    ],
)
def test_means_and_sums_can_be_agreed_on(test, found):
    assert compared(test) == (found, True)


@pytest.mark.parametrize(
    ("test", "found"),
    [
        ("x.max() < 3", ["x.max()"]),
        ("loss.item() < x.max()", ["loss.item()", "x.max()"]),
        ("epoch < 3", []),
        ("loss.item() in (1, 2)", []),
        ("loss.item()", []),
        ("torch.isnan(loss)", []),
        ("loss.item() < 3 and torch.isnan(loss)", []),
    ],
)
def test_others_cannot(test, found):
    assert compared(test) == (found, False)
