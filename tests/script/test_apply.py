"""Edits in one pass: their order, their conflicts, and the lines that come out."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis.syntax.program import Program
from nbddp.edits.edit import Edit, after, before, first_in, guard, inner_line_starts, replace, wrap
from nbddp.script.apply import Conflict, apply, in_order
from tests.analysis.cells import node, program


def applied(made: Program, *edits: Edit) -> str:
    lines = apply(made, 0, len(made.text), edits)
    return "\n".join(line.text for line in lines)


def test_nothing_to_do():
    made = program("a = 1  # one\n\nb = 2")
    assert applied(made) == made.text


def test_replaced_text_is_replaced_exactly():
    made = program("größe = f(1)  # ß")
    assert applied(made, replace(made, "r", node(made, ast.Constant, "1"), "2")) == "größe = f(2)  # ß\n"


def test_of_two_rules_around_one_node_the_later_stands_outside():
    made = program("x = f(1)")
    call = node(made, ast.Call, "f(1)")
    edits = [*wrap(made, "first", call, "a(", ")"), *wrap(made, "second", call, "b(", ")")]
    assert applied(made, *edits) == "x = b(a(f(1)))\n"


def test_nested_nodes_that_end_together_are_closed_inside_out():
    made = program("x = f(g(1))")
    edits = [
        *wrap(made, "outer", node(made, ast.Call, "f(g(1))"), "o(", ")"),
        *wrap(made, "inner", node(made, ast.Constant, "1"), "i(", ")"),
    ]
    assert applied(made, *edits) == "x = o(f(g(i(1))))\n"


def test_lines_before_and_after():
    made = program("if c:\n    x = 1  # here\ny = 2")
    statement = node(made, ast.Assign, "x = 1")
    edits = [before(made, "r", statement, "w = 0"), after(made, "r", statement, "z = 3")]
    assert applied(made, *edits) == "if c:\n    w = 0\n    x = 1  # here\n    z = 3\ny = 2\n"


def test_a_line_behind_a_block_and_one_behind_its_last_statement():
    made = program("for x in xs:\n    n += x\nprint(n)")
    loop, inner = node(made, ast.For, "for x in xs:\n    n += x"), node(made, ast.AugAssign, "n += x")
    edits = [after(made, "r", loop, "n = total(n)"), after(made, "s", inner, "report(n)")]
    assert applied(made, *edits) == "for x in xs:\n    n += x\n    report(n)\nn = total(n)\nprint(n)\n"


def test_statements_that_share_a_line():
    made = program("a = 1; b = 2")
    edits = [before(made, "r", node(made, ast.Assign, "b = 2"), "c = 3")]
    assert applied(made, *edits) == "a = 1; c = 3; b = 2\n"
    assert applied(made, after(made, "r", node(made, ast.Assign, "a = 1"), "c = 3")) == "a = 1; c = 3; b = 2\n"


def test_the_first_line_of_a_loop():
    made = program("for x in xs:\n    # why\n    f(x)")
    loop = made.statements[0].node
    assert isinstance(loop, ast.For)
    assert applied(made, first_in(made, "r", loop, "g(x)")) == "for x in xs:\n    # why\n    g(x)\n    f(x)\n"


def test_a_guard_leaves_the_insides_of_strings():
    made = program('f("""a\nb""",\n  c)')
    assert applied(made, *guard(made, "r", made.statements[0].node, "rank == 0")) == (
        'if rank == 0:\n    f("""a\nb""",\n      c)\n'
    )


def test_a_guard_in_a_suite_on_one_line():
    made = program("if best: f(1)\ng()")
    found = applied(made, *guard(made, "r", node(made, ast.Expr, "f(1)"), "rank == 0"))
    assert ast.dump(ast.parse(found)) == ast.dump(ast.parse("if best:\n    if rank == 0:\n        f(1)\ng()\n"))


def test_a_guard_in_a_guard_with_a_line_before():
    made = program("for x in xs:\n    f(x)\n    g(x)")
    loop, inner = made.statements[0].node, node(made, ast.Expr, "g(x)")
    edits = [*guard(made, "r", loop, "a"), *guard(made, "s", inner, "b"), before(made, "t", inner, "wait()")]
    expected = "if a:\n    for x in xs:\n        f(x)\n        wait()\n        if b:\n            g(x)\n"
    assert applied(made, *edits) == expected
    assert applied(made, *reversed(edits)) == expected


@pytest.mark.parametrize("suite", ["f(x); g(x)", "\n    f(x); g(x)"])
def test_a_guard_in_a_guard_of_one_that_shares_a_line(suite):
    made = program(f"for x in xs: {suite}")
    loop, inner = made.statements[0].node, node(made, ast.Expr, "g(x)")
    found = applied(made, *guard(made, "r", loop, "a"), *guard(made, "s", inner, "b"))
    expected = "if a:\n    for x in xs:\n        f(x)\n        if b:\n            g(x)\n"
    assert ast.dump(ast.parse(found)) == ast.dump(ast.parse(expected))


def test_two_guards_of_one_statement():
    made = program("f(x); g(x)")
    one = node(made, ast.Expr, "f(x)")
    found = applied(made, *guard(made, "r", one, "a"), *guard(made, "s", one, "b"))
    assert ast.dump(ast.parse(found)) == ast.dump(ast.parse("if b:\n    if a:\n        f(x)\ng(x)\n"))


def test_a_block_stands_outside_of_what_is_put_around_a_part():
    made = program("f(x)")
    statement, part = made.statements[0].node, node(made, ast.Name, "f")
    edits = [*guard(made, "r", statement, "a"), *wrap(made, "s", part, "(", " or g)")]
    assert applied(made, *edits) == "if a:\n    (f or g)(x)\n"


def test_a_guarded_statement_may_be_changed_inside():
    made = program("f(\n    a,\n)")
    edits = [*guard(made, "r", made.statements[0].node, "c"), replace(made, "s", node(made, ast.Name, "a"), "b")]
    assert applied(made, *edits) == "if c:\n    f(\n        b,\n    )\n"


def test_two_rules_that_replace_the_same_text():
    made = program("x = f(1)")
    edits = [
        replace(made, "one", node(made, ast.Call, "f(1)"), "a"),
        replace(made, "two", node(made, ast.Constant, "1"), "b"),
    ]
    with pytest.raises(Conflict) as conflict:
        applied(made, *edits)
    assert {conflict.value.first.rule, conflict.value.second.rule} == {"one", "two"}


def test_the_same_edit_twice_counts_once():
    made = program("x = f(1)")
    edit = before(made, "r", made.statements[0].node, "y = 2")
    assert applied(made, edit, edit) == "y = 2\nx = f(1)\n"


def test_order_does_not_depend_on_where_in_the_list_an_edit_stands():
    made = program("x = f(1)")
    call = node(made, ast.Call, "f(1)")
    edits = [*wrap(made, "w", call, "a(", ")"), before(made, "b", made.statements[0].node, "y = 2")]
    assert in_order(edits) == in_order(edits[::-1])


def test_lines_know_where_they_came_from():
    made = program("a = 1\nb = 2")
    edit = before(made, "r", node(made, ast.Assign, "b = 2"), "new = 0")
    lines = apply(made, 0, len(made.text), [edit])
    assert [(line.text, line.origin) for line in lines[:3]] == [("a = 1", 1), ("new = 0", None), ("b = 2", 2)]


def test_inner_line_starts():
    text = 'f(1,\n  """a\n  b""",\n\n  2)'
    made = program(text)
    assert [text[i : i + 3] for i in inner_line_starts(made, 0, len(text))] == ['  "', "  2"]
