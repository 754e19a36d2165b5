"""Edits put where they belong: a wrong offset changes a line that is the user's."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis.syntax import Program
from nbddp.edits import Edit, after, before, first_in, guard, has_comments, remove, replace, stands_alone, within, wrap
from nbddp.script.apply import apply
from tests.analysis.cells import program


def applied(made: Program, *edits: Edit) -> str:
    return "\n".join(line.text for line in apply(made, 0, len(made.text), edits)).strip("\n")


def statement(made: Program, text: str) -> ast.stmt:
    return next(n for n in ast.walk(made.tree) if isinstance(n, ast.stmt) and made.source(n) == text)


@pytest.mark.parametrize(
    ("text", "at", "result"),
    [
        ("a = 1\nb = 2", "b = 2", "a = 1\nnew()\nb = 2"),
        ("if a:\n    b = 2", "b = 2", "if a:\n    new()\n    b = 2"),
        ("if a: b = 2", "b = 2", "if a: new(); b = 2"),
        ("a = 1; b = 2", "b = 2", "a = 1; new(); b = 2"),
        ("a = 1; b = 2", "a = 1", "new()\na = 1; b = 2"),
        ("a = 1\nb = 2  # why", "b = 2  # why".split("  ", maxsplit=1)[0], "a = 1\nnew()\nb = 2  # why"),
        ("@c\ndef f():\n    pass", "def f():\n    pass", "new()\n@c\ndef f():\n    pass"),
        ("if a:\n    b\nelif c:\n    d", "elif c:\n    d", "new()\nif a:\n    b\nelif c:\n    d"),
    ],
)
def test_a_line_before(text, at, result):
    made = program(text)
    assert applied(made, before(made, "r", statement(made, at), "new()")) == result


@pytest.mark.parametrize(
    ("text", "at", "result"),
    [
        ("a = 1\nb = 2", "a = 1", "a = 1\nnew()\nb = 2"),
        ("if a:\n    b = 2  # why\nc", "b = 2", "if a:\n    b = 2  # why\n    new()\nc"),
        ("a = 1; b = 2", "a = 1", "a = 1; new(); b = 2"),
        ("if a:\n    b = 2; c = 3  # why", "c = 3", "if a:\n    b = 2; c = 3  # why\n    new()"),
        ("if a: b = 2; c = 3", "c = 3", "if a: b = 2; c = 3; new()"),
        ("for x in y:\n    b = 2\nc", "for x in y:\n    b = 2", "for x in y:\n    b = 2\nnew()\nc"),
    ],
)
def test_a_line_after(text, at, result):
    made = program(text)
    assert applied(made, after(made, "r", statement(made, at), "new()")) == result


def test_several_lines_beside_others_in_one_line():
    made = program("a = 1; b = 2; c = 3")
    edits = before(made, "r", statement(made, "b = 2"), "x()\ny()"), after(made, "r", statement(made, "b = 2"), "z()")
    assert applied(made, *edits) == "a = 1; x(); y(); b = 2; z(); c = 3"


def test_what_comes_behind_a_comment_stands_on_a_line_of_its_own():
    made = program("def f():\n    a = 1; b = 2")
    edits = [after(made, "r", statement(made, "a = 1"), text) for text in ("x()  # why", "y()")]
    assert applied(made, *edits) == "def f():\n    a = 1\n    x()  # why\n    y()\n    b = 2"


@pytest.mark.parametrize("put", [before, after])
def test_a_comment_takes_nothing_of_the_line_with_it(put):
    made = program("def f():\n    a = 1; b = 2; c = 3")
    found = applied(made, put(made, "r", statement(made, "b = 2"), "new()  # why"))
    order = ["b = 2", "new()  # why"] if put is after else ["new()  # why", "b = 2"]
    assert found == "\n    ".join(["def f():", "a = 1", *order, "c = 3"])


@pytest.mark.parametrize("text", ["if a: b = 2; c = 3", "if a:\n    b = 2; c = 3", "for a in x: b = 2; c = 3  # why"])
def test_a_block_beside_others_in_one_line_parts_them(text):
    made = program(text)
    edits = [
        before(made, "r", statement(made, "c = 3"), "with d:\n    new()"),
        after(made, "s", statement(made, "b = 2"), "if e:\n    last()"),
        *guard(made, "t", statement(made, "c = 3"), "ok"),
    ]
    head, why = text.partition(":")[0], "  # why" * ("#" in text)
    lines = ["b = 2", "if e:", "    last()", "with d:", "    new()", "if ok:", f"    c = 3{why}"]
    assert applied(made, *edits) == "\n    ".join([f"{head}:", *lines])


def test_at_the_start_of_a_loop():
    made = program("for x in y:\n    # what\n    b = 2")
    loop = made.tree.body[0]
    assert isinstance(loop, ast.For)
    assert applied(made, first_in(made, "r", loop, "new()")) == "for x in y:\n    # what\n    new()\n    b = 2"


@pytest.mark.parametrize(
    ("text", "at", "result"),
    [
        ("a = 1\nb = 2\nc = 3", "b = 2", "a = 1\nc = 3"),
        ("if a:\n    b = 2", "b = 2", "if a:\n    pass"),
        ("if a:\n    b = 2\n    c = 3", "b = 2", "if a:\n    c = 3"),
        ("a = 1; b = 2", "b = 2", "a = 1; pass"),
        ("a = 1\nb = (2,  # why\n  3)", "b = (2,  # why\n  3)", "a = 1\npass"),
        ("a = 1\nb = 2  # why", "b = 2", "a = 1\npass  # why"),
    ],
)
def test_a_statement_taken_out(text, at, result):
    made = program(text)
    assert applied(made, remove(made, "r", statement(made, at))) == result


@pytest.mark.parametrize(
    ("text", "at", "result"),
    [
        ("a = 1\nb = 2", "b = 2", "a = 1\nif ok:\n    b = 2"),
        ("f(1,\n  2)", "f(1,\n  2)", "if ok:\n    f(1,\n      2)"),
        ('f("""\nx\n""",\n  2)', 'f("""\nx\n""",\n  2)', 'if ok:\n    f("""\nx\n""",\n      2)'),
        ("if a: b = 2", "b = 2", "if a:\n    if ok:\n        b = 2"),
        ("if a: b = 2; c = 3", "c = 3", "if a:\n    b = 2\n    if ok:\n        c = 3"),
    ],
)
def test_a_statement_under_a_condition(text, at, result):
    made = program(text)
    found = applied(made, *guard(made, "r", statement(made, at), "ok"))
    assert found == result
    ast.parse(found)


def test_a_statement_in_a_context():
    made = program("a = 1")
    assert applied(made, *within(made, "r", made.tree.body[0], "ctx()")) == "with ctx():\n    a = 1"


def test_text_in_place_of_a_node_and_around_it():
    made = program("a = f(é, b)")
    b = next(n for n in ast.walk(made.tree) if isinstance(n, ast.Name) and n.id == "b")
    assert applied(made, replace(made, "r", b, "new")) == "a = f(é, new)"
    assert applied(made, *wrap(made, "r", b, "g(", ")")) == "a = f(é, g(b))"


@pytest.mark.parametrize(
    ("text", "alone", "comments"),
    [("b = 2", True, False), ("b = 2  # why", True, True), ("b = 2; c = 3", False, False), ("b = 2;", False, False)],
)
def test_what_stands_on_its_lines(text, alone, comments):
    made = program(text)
    node = made.tree.body[0]
    assert stands_alone(made, node) is alone
    assert has_comments(made, node) is comments
