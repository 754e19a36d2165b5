"""What is put on top of what was there, however it is written."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis.syntax import increment


@pytest.mark.parametrize(
    ("text", "place", "value"),
    [
        ("x += y", "x", "y"),
        ("x = x + y", "x", "y"),
        ("d['a'] = d['a'] + 1", "d['a']", "1"),
        ("self.n -= 1", "self.n", "1"),
        ("self.n = self.n + f(x)", "self.n", "f(x)"),
    ],
)
def test_what_is_added_to_a_place(text, place, value):
    found = increment(ast.parse(text).body[0])
    assert found is not None
    assert (ast.unparse(found.place), ast.unparse(found.value)) == (place, value)


@pytest.mark.parametrize("text", ["x = y + x", "x = x * y", "x = z = x + y", "a, b = a + b", "x = x", "f(x + y)"])
def test_other_statements(text):
    assert increment(ast.parse(text).body[0]) is None
