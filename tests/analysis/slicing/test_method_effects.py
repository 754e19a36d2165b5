"""Which methods of a notebook's classes change what they are called on."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis.slicing.method_effects import changing_methods


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
