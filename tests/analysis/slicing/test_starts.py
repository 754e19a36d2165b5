"""What a name is set to before a loop."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis.slicing import is_empty, starts_at_zero


@pytest.mark.parametrize(
    ("line", "zero"),
    [
        ("n = 0", True), ("n = 0.0", True), ("n = 1", False), ("n = [0, 0]", True), ("n = [0] * 3", True),
        ("n = ''", False), ("m, n = [0, 0]", True), ("n = ()", False),
        ("n = {'a': 0}", True), ("m, n = 1, 0", True), ("m, n = 0, 1", False), ("n = torch.zeros(3)", True),
        ("n = torch.tensor(0.0).to(d)", True), ("n = f()", False), ("n = {k: 0 for k in ks}", True),
    ],
)  # fmt: skip
def test_starts_at_zero(line, zero):
    assert starts_at_zero(ast.parse(line).body[0], "n") is zero


@pytest.mark.parametrize(
    ("line", "empty"),
    [
        ("n = []", True),
        ("n = list()", True),
        ("n = [1]", False),
        ("n = torch.tensor([])", True),
        ("m, n = [], []", True),
    ],
)
def test_is_empty(line, empty):
    assert is_empty(ast.parse(line).body[0], "n") is empty
