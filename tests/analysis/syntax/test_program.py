"""Cells as one text: exact places, whatever stands in them."""

from __future__ import annotations

import ast

from tests.analysis.cells import node, program


def test_places():
    made = program("a = 1\n\nb = 2", "# comment\nc = 3")
    assert [(s.cell.number, s.index) for s in made.statements] == [(1, 0), (1, 1), (2, 2)]
    assert made.place(node(made, ast.Name, "b").lineno)[1] == 3
    assert made.cell_of(node(made, ast.Name, "c")).number == 2


def test_columns_are_counted_in_characters():
    made = program("größe = 'ß→'; x = größe")
    assert made.source(node(made, ast.Assign, "x = größe")) == "x = größe"
    assert made.text[slice(*made.span(node(made, ast.Constant, "'ß→'")))] == "'ß→'"


def test_broken_and_skipped_cells_take_no_part():
    made = program("a = (", "#| ddp: skip\nb = 1", "c = 2")
    assert [made.source(s.node) for s in made.statements] == ["c = 2"]
    assert made.statements[0].cell.number == 3


def test_ancestors():
    made = program("def f():\n    for i in x:\n        y = [i]")
    inner = node(made, ast.List, "[i]")
    assert isinstance(made.statement_of(inner), ast.Assign)
    function = made.function_of(inner)
    assert function is not None
    assert function.name == "f"
    assert made.function_of(function) is None


def test_a_finding_shows_its_line_as_the_cell_has_it():
    made = program("x = 1", "y = 2\nfor i in y: pass  # odd")
    found = made.diagnose("rule", "error", node(made, ast.Name, "i"), "what")
    assert (found.cell, found.line, found.column, found.source) == (2, 2, 5, "for i in y: pass  # odd")


def test_a_magic_needs_its_import():
    assert program("files = !ls").needs == ("subprocess",)
