"""What a kernel has executed, as a file: numbers that differ make another script."""

from __future__ import annotations

import json

import pytest

from nbddp.magics.executed.executed_notebook import as_file, file_of
from nbddp.magics.executed.record import Executed


def saved(folder, *ids):
    path = folder / "a.ipynb"
    path.write_text(json.dumps({"cells": [{"id": identity} for identity in ids]}))
    return path


def numbers(cells, path=None):
    return as_file(cells, path)[1]


def cell(identity=None, count=0):
    return Executed("a = 1", ("setup",), identity, count)


def test_the_files_own_numbers_where_it_has_all_in_their_order(tmp_path):
    path = saved(tmp_path, "x", "a", "y", "b")
    assert numbers([cell("a", 7), cell("b", 3)], path) == (2, 4)


@pytest.mark.parametrize(
    "cells", [[cell("b", 3), cell("a", 7)], [cell("a", 3), cell("other", 7)], [cell("a", 3), cell(None, 7)]]
)
def test_else_those_of_the_prompts(tmp_path, cells):
    assert numbers(cells, saved(tmp_path, "a", "b")) == (3, 7)


@pytest.mark.parametrize("counts", [(3, 2), (0, 1), (2, 2)])
def test_else_their_places(counts):
    assert numbers([cell(count=count) for count in counts]) == (1, 2)


def test_a_damaged_file_has_no_numbers(tmp_path):
    path = tmp_path / "a.ipynb"
    for text in ("", "{", '{"cells": 3}', "[]", '{"cells": [3]}'):
        path.write_text(text)
        assert numbers([cell("a", 3)], path) == (3,)
    assert numbers([cell("a", 3)], tmp_path / "nowhere") == (3,)


def test_cells_stand_at_their_numbers_with_blanks_between():
    data, _ = as_file([cell("a", 2), cell(None, 4)], None)
    assert [c["cell_type"] for c in data["cells"]] == ["markdown", "code", "markdown", "code"]
    assert data["cells"][1]["metadata"] == {"tags": ["setup"]}
    assert [c.get("id") for c in data["cells"]] == [None, "a", None, "in-4"]
    assert as_file([], None)[0]["cells"] == []


@pytest.mark.parametrize(
    ("namespace", "environ", "name"),
    [
        ({"__vsc_ipynb_file__": "/x/a.ipynb"}, "", "a.ipynb"),
        ({}, "/x/b.ipynb", "b.ipynb"),
        ({}, "/x/console-1", None),
        ({"__vsc_ipynb_file__": 3}, "", None),
    ],
)
def test_the_file_as_the_kernel_is_told(monkeypatch, namespace, environ, name):
    monkeypatch.setenv("JPY_SESSION_NAME", environ)
    found = file_of(namespace)
    assert (found.name if found else None) == name
