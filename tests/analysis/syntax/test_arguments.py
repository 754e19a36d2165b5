"""A call's expressions, by the parameters that get them."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis.syntax import handed, keywords_of


@pytest.mark.parametrize(
    ("signature", "call", "expected"),
    [
        ("a, b", "f(1, 2)", {"a": "1", "b": "2"}),
        ("a, b", "f(1, b=x.y)", {"a": "1", "b": "x.y"}),
        ("self, a", "m.f(1)", {"a": "1"}),
        ("cls, a", "f(1)", {"a": "1"}),
        ("a", "m.f(1)", {"a": "1"}),
        ("a, *rest", "f(1, 2)", {"a": "1"}),
        ("a, /, *, b", "f(1, b=2)", {"a": "1", "b": "2"}),
        ("a, b", "f(*both)", {}),
        ("a, b", "f(1, *others)", {"a": "1"}),
        ("a", "f(**named)", {}),
    ],
)
def test_which_parameter_gets_what(signature, call, expected):
    function = ast.parse(f"def f({signature}): pass").body[0]
    given = ast.parse(call, mode="eval").body
    assert {name: ast.unparse(value) for name, value in handed(given, function)} == expected


def test_keywords_by_name():
    call = ast.parse("f(a, b=1, **c)", mode="eval").body
    assert isinstance(call, ast.Call)
    assert {name: ast.unparse(value) for name, value in keywords_of(call).items()} == {"b": "1", None: "c"}
