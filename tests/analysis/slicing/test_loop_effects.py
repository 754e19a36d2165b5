"""How a loop changes a name, where it was set before, and whether anybody reads it after."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis.slicing import changed_names, forms, fresh_start, read_after
from nbddp.analysis.syntax.program import Program
from tests.analysis.cells import program


def loop(made: Program) -> ast.For:
    """The innermost one."""
    return [n for n in ast.walk(made.tree) if isinstance(n, ast.For)][-1]


@pytest.mark.parametrize(
    ("line", "ways"),
    [
        ("n += x", {"add"}),
        ("n -= x", {"add"}),
        ("n = n + x", {"add"}),
        ("n *= x", {"set"}),
        ("n = x", {"set"}),
        ("n.append(x)", {"append"}),
        ("n.extend(x)", {"extend"}),
        ("n['a'] += x", {"item"}),
        ("n['a'] = x", {"set"}),
        ("n = torch.cat([n, x])", {"cat"}),
        ("n.add_(x)", {"add"}),
        ("m = n", set()),
        ("a, n = x", {"set"}),
    ],
)
def test_forms(line, ways):
    assert forms(ast.parse(f"for x in xs:\n    {line}").body, "n") == ways


def test_changed_names():
    body = ast.parse("a = 1\nb[0] = 2\nc.append(3)\nd.mean()\ndef f():\n    e = 1").body
    assert {"a", "b", "c"} <= changed_names(body)
    assert not {"d", "e"} & changed_names(body)
    assert changed_names(ast.parse("a = [b for b in c if b]").body) == {"a"}


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("n = 0\nfor x in xs:\n    n += x", "n = 0"),
        ("a, n = 0, 0\nfor x in xs:\n    n += x", "a, n = 0, 0"),
        ("n = 0\nfor y in ys:\n    n += y\nfor x in xs:\n    n += x", None),
        ("n = 0\nfor e in es:\n    for x in xs:\n        n += x", None),
        ("for e in es:\n    n = 0\n    for x in xs:\n        n += x", "n = 0"),
        ("n = 0\nwith w:\n    for x in xs:\n        n += x", "n = 0"),
    ],
)
def test_fresh_start(source, found):
    made = program(source)
    start = fresh_start(made, loop(made), "n")
    assert (made.source(start) if start else None) == found


@pytest.mark.parametrize(
    ("source", "read"),
    [
        ("for x in xs:\n    n = x\nprint(n)", True),
        ("for x in xs:\n    n = x\nn = 1\nprint(n)", False),
        ("for x in xs:\n    n = x", False),
        ("for e in es:\n    print(n)\n    for x in xs:\n        n = x", True),
        ("for e in es:\n    n = 0\n    for x in xs:\n        n = x", False),
        ("for x in xs:\n    n = x\ndef f():\n    return n", True),
    ],
)
def test_read_after(source, read):
    made = program(source)
    kept = {s.node for s in made.statements}
    assert read_after(made, {}, loop(made), "n", kept) is read
