"""The blocks that a statement lies in."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis.syntax import blocks_around
from tests.analysis.cells import program


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("here", []),
        ("if a:\n    here", [ast.If]),
        ("for x in y:\n    if a:\n        here", [ast.If, ast.For]),
        ("def f():\n    while a:\n        here", [ast.While, ast.FunctionDef]),
        ("try:\n    here\nexcept E:\n    pass", [ast.Try]),
        ("with a:\n    here", []),
        ("class A:\n    b = here", []),
    ],
)
def test_blocks(text, kinds):
    made = program(text)
    (here,) = [n for n in ast.walk(made.tree) if isinstance(n, ast.Name) and n.id == "here"]
    assert [type(b) for b in blocks_around(made, here)] == kinds
