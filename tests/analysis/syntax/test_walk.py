"""A part of a tree is what `ast.walk` finds in it, in the order of the text, whichever part is asked for first."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis.syntax import walk
from nbddp.analysis.syntax.walk import SHARED

CODE = '''
def f(a, *rest, b=1, **more):
    """Text."""
    for i, (x, y) in enumerate(rest):
        yield [v + i for v in x if not v] or {**more, "k": lambda z: z[i:-1]}
    else:
        match a:
            case {"k": [first, *_]} if first > 0: print(f"{first!r:>{b}}")
class C(f): at: int = 3
'''


@pytest.mark.parametrize("inner_first", [False, True])
def test_the_same_nodes_as_those_of_ast(inner_first):
    tree = ast.parse(CODE)
    nodes = [n for n in ast.walk(tree) if not isinstance(n, SHARED)]
    for node in reversed(nodes) if inner_first else nodes:
        found = walk(node)
        assert set(found) == {n for n in ast.walk(node) if not isinstance(n, SHARED)}
        assert len(found) == len(set(found))
        assert found[0] is node


def test_in_the_order_of_the_text():
    statements = [n.lineno for n in walk(ast.parse(CODE)) if isinstance(n, ast.stmt)]
    assert statements == sorted(statements)


def test_a_node_that_is_made_around_known_ones():
    inner = ast.parse("a.b[c]", mode="eval").body
    walk(inner)
    around = ast.Expr(inner)
    assert walk(around)[1:] == walk(inner)
