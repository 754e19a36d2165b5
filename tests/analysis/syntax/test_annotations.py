"""Annotated assignments are plain ones to all that reads the tree; what a class declares stays as it is."""

from __future__ import annotations

import ast

import pytest

from tests.analysis.cells import program


@pytest.mark.parametrize(
    ("text", "plain", "annotations"),
    [
        ("x: int = 1", "x = 1", ["int"]),
        ("def f():\n    x: 'A' = g()", "def f():\n    x = g()", ["'A'"]),
        ("self.x: list[int] = []", "self.x = []", ["list[int]"]),
        ("if a:\n    pass\nelse:\n    x: int = 1", "if a:\n    pass\nelse:\n    x = 1", ["int"]),
        ("class A:\n    x: int = 1", "class A:\n    x: int = 1", []),
        (
            "class A:\n    def f(self):\n        self.x: int = 1",
            "class A:\n\n    def f(self):\n        self.x = 1",
            ["int"],
        ),
        ("x: int", "x: int", []),
        ("(x): int = 1", "(x): int = 1", []),
    ],
)
def test_annotations_of_names(text, plain, annotations):
    made = program(text)
    assert ast.unparse(made.tree) == plain
    assert [ast.unparse(a) for a in made.annotations.values()] == annotations
    for node in made.annotations:
        assert made.source(node) in text
