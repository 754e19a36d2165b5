"""Containers that keep the items with which they are written."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis.agreement.fixed_containers import is_fixed
from tests.analysis.cells import BEFORE, batch, node, plan


def fixed(before: str, *lines: str, source: str = "kept") -> bool:
    made = plan(*BEFORE, before, batch(*lines, f"seen = {source}"))
    return is_fixed(made, node(made, ast.expr, source))


@pytest.mark.parametrize(
    ("before", "lines", "source"),
    [
        ("kept = {'a': 1, 'b': 2}", [], "kept"),
        ("kept = {'a': 1, 'b': 2}", [], "kept.items()"),
        ("kept = [1, 2]", [], "kept"),
        ("kept = {'a': 1}", ["kept['a'] = loss.item()"], "kept"),
        ("kept = {'a': 1}", ["n = kept.get('a')"], "kept.values()"),
    ],
)
def test_all_ranks_go_through_the_same_items(before, lines, source):
    assert fixed(before, *lines, source=source)


@pytest.mark.parametrize(
    ("before", "lines"),
    [
        ("kept = []", ["kept.append(1)"]),
        ("kept = {}", ["kept[epoch] = 1"]),
        ("kept = {'a': 1}", ["kept.update(b=2)"]),
        ("kept = [1, 2]", ["kept.pop()"]),
        ("kept = [*range(3)]", []),
        ("kept = {**{'a': 1}}", []),
        ("kept = {'a': 1}", ["del kept['a']"]),
        ("kept = {k: 1 for k in 'ab'}", []),
        ("kept = 3", []),
    ],
)
def test_these_may_hold_others(before, lines):
    assert not fixed(before, *lines)
