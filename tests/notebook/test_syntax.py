"""What counts as Python, and where it stops being it."""

from __future__ import annotations

import pytest

from nbddp.notebook import SyntaxProblem, parse
from nbddp.notebook.syntax import check, is_expression


@pytest.mark.parametrize(
    "code",
    [
        "",
        "x = 1",
        "# only a comment",
        "import os\nfrom __future__ import annotations",
        '"\\d"',
        "x is 1",
        "é = 1",
        "# -*- coding: latin-1 -*-\nx = 'é'",
    ],
)
def test_python(code: str) -> None:
    assert check(code) == (None, False)


@pytest.mark.parametrize(
    "code",
    [
        "await f()",
        "async for x in y:\n    pass",
        "async with a:\n    pass",
        "import os\nfrom __future__ import annotations\nawait f()",
    ],
)
def test_awaits_at_top_level(code: str) -> None:
    assert check(code) == (None, True)


def test_awaits_in_a_function_are_no_matter() -> None:
    assert check("async def f():\n    await g()") == (None, False)


@pytest.mark.parametrize(
    ("code", "line", "column"),
    [
        ("x = 1\ny = (\n", 2, 5),
        ("x =", 1, 4),
        ("x = 1\n  y = 2", 2, None),
        ("ü = 'é' 1", 1, None),
        ("return 1", 1, 1),
        ("for x in y:\nz", 2, 1),
        ("x = 1\nprint 'x'", 2, 1),
    ],
)
def test_a_problem_has_its_place(code: str, line: int, column: int | None) -> None:
    problem, has_await = check(code)
    assert problem is not None
    assert problem.line == line
    assert problem.column == column or (column is None and problem.column >= 1)
    assert problem.message
    assert not has_await


@pytest.mark.parametrize("code", ["x = '\0'", "x = '\ud800'", "-" * 200_000 + "1", "(" * 500 + ")" * 500])
def test_text_that_the_compiler_cannot_take_is_a_problem_too(code: str) -> None:
    problem, _ = check(code)
    assert problem is not None


def test_a_late_cell_magic_is_told_as_such() -> None:
    message = "%%time works only on the first line of a cell"
    assert check("x = 1\n%%time\nf()")[0] == SyntaxProblem(message, 2, 1)


def test_parse_gives_no_warnings() -> None:
    assert len(parse('x = "\\d"\ny = 1 is 1').body) == 2


@pytest.mark.parametrize(("text", "expected"), [("a + b", True), ("a = b", False), ("", False), ("\0", False)])
def test_is_expression(text: str, expected: bool) -> None:
    assert is_expression(text) is expected
