"""What holds for every cell and every file, whatever stands in it."""

from __future__ import annotations

import ast
import contextlib
import json
import warnings
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from nbddp.notebook import CannotRead, Cell, cell_from_source, notebook_from_json, notebook_from_percent, read_notebook
from nbddp.notebook.lines import escape_lines

SPECIAL = "%time ,%%time,%%bash,%%ddp_train,!,!!,?,??,%cd ,%env A=,x = ,= !ls,pip install ,get_ipython().system(,/f"
PYTHON = (
    "f',{,},',\",\"\"\",''',(,),[,],#,\\,if x:,def f():,await f(),pass,x,1,=,:,;,return,lambda,:=,...,$a,{a!r:>{b}}"
)
LAYOUT = "\n,\n    ,\t,\r\n,\r,\f,\0,\ud800,\ufeff,\u2028,\x0b,\x1a,é,>>> ,... ,In [1]: ,#| ddp: train,# %%"
FRAGMENTS = st.sampled_from([*SPECIAL.split(","), *PYTHON.split(","), *LAYOUT.split(","), ","])
KEYS = "cells worksheets cell_type source input metadata tags nbformat kernelspec language language_info name id level"
SOURCES = st.lists(FRAGMENTS | st.text(max_size=4), max_size=12).map("".join)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(KEYS.split()) | st.text(max_size=3),
            inner | st.sampled_from(["code", "markdown", "heading", 4, 3, 5]),
            max_size=5,
        )
    ),
    max_leaves=25,
)


def sound(cell: Cell) -> None:
    """Lines kept, and code that compiles unless there is a problem with a place in the cell."""
    if cell.code or cell.kind != "code":
        assert cell.code == "" or cell.code.count("\n") == cell.source.count("\n")
    if cell.error is None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(cell.code)
    else:
        lines = cell.source.split("\n")
        assert 1 <= cell.error.line <= len(lines)
        assert cell.error.column >= 1
    assert all(1 <= e.line <= cell.source.count("\n") + 1 for e in cell.escapes)
    assert "\r" not in cell.source


@settings(max_examples=200, deadline=None)
@given(SOURCES)
@example("%time \\\n x = (")
@example("%%time\r\n\r\n!ls \\\r\n")
@example("\f\n   !x\n")
def test_every_cell_is_sound(source: str) -> None:
    sound(cell_from_source(source))


@settings(max_examples=200, deadline=None)
@given(SOURCES, SOURCES)
def test_cells_that_parse_alone_parse_together(first: str, second: str) -> None:
    cells = [cell_from_source(source) for source in (first, second)]
    together = "\n".join(cell.code for cell in cells if cell.error is None) + "\n"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert len(ast.parse(together).body) == sum(len(ast.parse(c.code).body) for c in cells if c.error is None)


@pytest.mark.parametrize("path", sorted(Path(ast.__file__).parent.glob("[a-f]*.py")), ids=lambda path: path.name)
def test_python_without_magics_is_left_alone(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert escape_lines(text).code == text
    assert escape_lines(text).escapes == ()


@settings(max_examples=200, deadline=None)
@given(JSON)
@example({"cells": [{"cell_type": "heading", "level": -5, "source": "x"}]})
def test_any_json_is_a_notebook_or_refused(data: Any) -> None:
    with contextlib.suppress(CannotRead):
        for cell in notebook_from_json(data, "a.ipynb").cells:
            sound(cell)


@settings(max_examples=200, deadline=None)
@given(st.lists(FRAGMENTS | st.sampled_from(["# %% ", "# ---\n", "tags=[", "[markdown]", "\n# "])).map("".join))
def test_any_text_is_a_percent_file_or_refused(text: str) -> None:
    with contextlib.suppress(CannotRead):
        for cell in notebook_from_percent(text, "a.py").cells:
            sound(cell)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary() | JSON.map(lambda data: json.dumps(data).encode()), st.sampled_from([".ipynb", ".py", ".txt", ""]))
def test_any_bytes_are_a_notebook_or_refused(tmp_path: Path, content: bytes, suffix: str) -> None:
    path = tmp_path / f"a{suffix}"
    path.write_bytes(content)
    with contextlib.suppress(CannotRead):
        assert read_notebook(path).path == path
