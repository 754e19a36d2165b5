"""Arguments set in a call, as its text is laid out."""

from __future__ import annotations

import ast

import pytest

from nbddp.edits import set_arguments
from tests.analysis.cells import program
from tests.edits.test_edit import applied


def with_(text: str, **values: str) -> str:
    made = program(text)
    call = next(n for n in ast.walk(made.tree) if isinstance(n, ast.Call))
    return applied(made, *set_arguments(made, "r", call, values))


LONG = "loader = DataLoader(" + ", ".join(f"argument_{k}=value_{k}" for k in range(4)) + ")"


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("f()", "f(n=1)"),
        ("f(a)", "f(a, n=1)"),
        ("f(a,)", "f(a, n=1)"),
        ("f(n=2)", "f(n=1)"),
        ("f(n=2, b=3)", "f(n=1, b=3)"),
        ("f(a, **more)", "f(a, **more, n=1)"),
        ("f(\n    a,\n)", "f(\n    a,\n    n=1,\n)"),
        ("f(\n    a\n)", "f(\n    a,\n    n=1,\n)"),
        ("f(a,\n  b)", "f(a,\n  b, n=1)"),
        ("g(f(a))", "g(f(a), n=1)"),
    ],
)
def test_an_argument(text, result):
    found = with_(text, n="1")
    assert found == result
    ast.parse(found)


def test_several_where_some_are_there():
    assert with_("f(a, b=1)", b="2", c="3") == "f(a, b=2, c=3)"
    assert with_("f(a)") == "f(a)"


def test_a_line_that_would_be_too_long_gets_a_line_for_each():
    found = with_(LONG, another_argument="another_value_of_it")
    assert found.count("\n") == 6
    assert "    argument_0=value_0,\n" in found
    assert ast.dump(ast.parse(found)) == ast.dump(ast.parse(LONG[:-1] + ", another_argument=another_value_of_it)"))
