"""Which methods of a notebook's classes change what they are called on."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis.slicing.method_effects import changed_by_calls, changing_methods


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("def split(self, n):\n        self.train = self.rows[:n]", {"split"}),
        ("def split(self, n):\n        return self.rows[:n]", set()),
        ("def encode(self, w):\n        return self.words.setdefault(w, 0)", {"encode"}),
        ("def encode(self, w):\n        self.words[w] = 1", {"encode"}),
        ("def encode(self, x):\n        return self.layer(x)", set()),
        ("def transform(me):\n        me.rows.mul_(2)", {"transform"}),
        ("def get(self):\n        found = []\n        found.append(self.rows)\n        return found", set()),
        (
            "def get(self):\n        return self.take()\n    def take(self):\n        return self.rows.pop()",
            {"get", "take"},
        ),
    ],
)
def test_methods_by_what_they_do(body, found):
    tree = ast.parse(f"class Data:\n    {body}\n")
    assert changing_methods(list(ast.walk(tree))) == found


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("self.count += 1", {"stop"}),
        ("self.note()", {"stop"}),
        ("return self.count", set()),
    ],
)
def test_variables_that_change_when_they_are_called(body, found):
    text = f"""
class Stop:
    count = 0
    def __call__(self):
        {body}
    def note(self):
        self.count = 2
class Other:
    def __call__(self):
        return 1
stop, other = Stop(), Other()
stop = Stop()
other = Other()
"""
    assert changed_by_calls(ast.parse(text).body) == found
