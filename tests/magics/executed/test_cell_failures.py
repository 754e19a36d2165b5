"""How much of a cell had run when it failed."""

from __future__ import annotations

from typing import Any

import pytest

from nbddp.magics.executed.cell_failures import what_ran


def failed(source: str) -> tuple[BaseException, dict[str, Any]]:
    namespace: dict[str, Any] = {}
    try:
        exec(compile(source, "<cell>", "exec"), namespace)
    except ZeroDivisionError as error:
        return error, namespace
    raise AssertionError("it did not fail")


@pytest.mark.parametrize(
    ("source", "ran"),
    [
        ("a = 1\nb = 1 / 0\nc = 2", "a = 1"),
        ("1 / 0", ""),
        ("a = 1\nfor x in [0]:\n    1 / x\nb = 2", "a = 1"),
        ("def f():\n    1 / 0\na = 1\nf()\nb = 2", "def f():\n    1 / 0\na = 1"),
        ("a = 1\n@(lambda f: 1 / 0)\ndef g():\n    pass", "a = 1"),
    ],
)
def test_up_to_the_statement_that_failed(source, ran):
    error, namespace = failed(source)
    assert what_ran(source, error, namespace) == ran


def test_an_error_of_elsewhere_tells_nothing():
    error, _ = failed("a = 1\n1 / 0")
    assert what_ran("a = 1\n1 / 0", error, {}) == ""


def test_a_cell_of_another_language_tells_nothing():
    error, namespace = failed("a = 1\n1 / 0")
    assert what_ran("%%bash\nls", error, namespace) == ""
