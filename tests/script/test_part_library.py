"""The parts as text."""

from __future__ import annotations

import ast

import pytest

from nbddp.script.part_library import FOLDER, ON_REQUEST, SECTIONS, library, without_methods


def test_each_part_is_the_source_of_its_definition():
    found = library()
    assert "mean_over_ranks" in found.parts
    for name, source in found.parts.items():
        (node,) = ast.parse(source).body
        names = [node.name] if isinstance(node, ast.FunctionDef | ast.ClassDef) else [ast.unparse(node.targets[0])]  # type: ignore[attr-defined]
        assert names == [name]


def test_each_has_a_section_and_no_file_is_forgotten():
    assert library().sections.keys() == library().parts.keys()
    assert {f for files in SECTIONS.values() for f in files} == {p.stem for p in FOLDER.glob("*.py")} - {"__init__"}


def test_imports_bind_their_names_and_none_is_of_this_package():
    for name, line in library().imports.items():
        (node,) = ast.parse(line).body
        assert isinstance(node, ast.Import | ast.ImportFrom)
        assert [(a.asname or a.name) for a in node.names] == [name]
        assert "nbddp" not in line


CLASS = """class A:
    def one(self):
        return 1

    @property
    def two(self):
        return 2

    n = 3"""


@pytest.mark.parametrize(
    ("names", "left"),
    [(set(), ["one", "two", "n"]), ({"two"}, ["one", "n"]), ({"one"}, ["two", "n"]), ({"x"}, ["one", "two", "n"])],
)
def test_methods_left_out(names, left):
    (node,) = ast.parse(without_methods(CLASS, names)).body
    assert isinstance(node, ast.ClassDef)
    assert [getattr(p, "name", "n") for p in node.body] == left


@pytest.mark.parametrize("name", sorted(ON_REQUEST))
def test_methods_on_request_are_there_to_be_left_out(name):
    (node,) = ast.parse(library().parts[name]).body
    assert isinstance(node, ast.ClassDef)
    assigned = {ast.unparse(p.targets[0]) for p in node.body if isinstance(p, ast.Assign)}
    assert ON_REQUEST[name] <= assigned | {p.name for p in node.body if isinstance(p, ast.FunctionDef)}
