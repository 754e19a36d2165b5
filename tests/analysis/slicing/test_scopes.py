"""Names of scopes, and where expressions start."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis.slicing.scopes import bound_names, local_names, root_name


@pytest.mark.parametrize(
    ("expression", "root"), [("a.b[c].d()", "a"), ("a", "a"), ("f()", None), ("(a + b).c", None), ("*a", "a")]
)
def test_root_of_a_chain(expression, root):
    node = ast.parse(f"[{expression}]", mode="eval").body
    assert isinstance(node, ast.List)
    assert root_name(node.elts[0]) == root


def test_names_of_a_scope():
    source = "def f(a, *b, c=1, **d):\n    global g\n    g = h = 1\n    def inner():\n        k = 1\n    [n for n in b]"
    (node,) = ast.parse(source).body
    assert isinstance(node, ast.FunctionDef)
    assert local_names(node) == {"a", "b", "c", "d", "h", "inner"}
    assert bound_names([node]) == {"f"}


def test_the_names_of_a_function_are_looked_for_once():
    """They are asked for again for every name and attribute in reach: of a large model, thousands of times."""
    (function,) = ast.parse("def f(a):\n    global c\n    b = c = a").body
    assert isinstance(function, ast.FunctionDef)
    assert local_names(function) == {"a", "b"}
    assert local_names(function) is local_names(function)
