"""Cells from their source, end to end."""

from __future__ import annotations

import pytest

from nbddp.notebook import Cell, SyntaxProblem, cell_from_source


def test_plain_python_stays_as_it_is() -> None:
    source = "import os\n\n\ndef f(x):\n    return f'{x}'  # x\n"
    assert cell_from_source(source, 3) == Cell(3, "code", source, source)


def test_everything_that_a_cell_can_say() -> None:
    source = "%%time\n%%ddp_train --nproc 2\nimport os\n%cd data\nfiles = !ls\nawait f()"
    cell = cell_from_source(source, 4, tags=["ddp-train"])
    assert cell.code.split("\n")[:4] == ["", "", "import os", 'os.chdir("data")']
    assert (cell.mark, cell.mode, cell.magic_line) == ("train", "ddp", "--nproc 2")
    assert [(e.line, e.name) for e in cell.escapes] == [(1, "time"), (2, "ddp_train"), (4, "cd"), (5, "ls")]
    assert cell.needs_imports == ("subprocess",)
    assert cell.has_await
    assert cell.error is None


@pytest.mark.parametrize(
    ("source", "needs"),
    [
        ("%cd x", ("os",)),
        ("import os\n%cd x", ()),
        ("import os.path\n%cd x", ()),
        ("import sys, os\n%cd x", ()),
        ("%cd x\nimport os", ("os",)),
        ("import os as o\n%cd x", ("os",)),
        ("import numpy as os\n%cd x", ("os",)),
        ("from os import path\n%cd x", ("os",)),
        ("def f():\n    import os\n%cd x", ("os",)),
        ("%cd x\n%env A=B\nx = !ls", ("os", "subprocess")),
        ("%matplotlib inline", ()),
    ],
)
def test_imports_that_replaced_magics_need(source: str, needs: tuple[str, ...]) -> None:
    assert cell_from_source(source).needs_imports == needs


@pytest.mark.parametrize("source", ["%%bash\nls\npwd", "%%html\n<b>x</b>", "\n%%writefile x.py\nimport x"])
def test_cells_of_another_language_have_no_code(source: str) -> None:
    cell = cell_from_source(source)
    assert (cell.code, cell.error, cell.source) == ("", None, source)
    assert cell.escapes[0].kind == "cell magic"


@pytest.mark.parametrize("kind", ["markdown", "raw"])
def test_prose_has_no_code(kind: str) -> None:
    assert cell_from_source("# x\n!ls", kind=kind) == Cell(1, kind, "# x\n!ls", "")


@pytest.mark.parametrize("source", ["", "\n", "# a", "  \n\n# b\n", "pass"])
def test_cells_without_statements(source: str) -> None:
    assert cell_from_source(source) == Cell(1, "code", source, source)


def test_windows_newlines_and_byte_order_mark() -> None:
    cell = cell_from_source("\ufeff%matplotlib inline\r\nx = 1\r\n")
    assert cell.source == "\ufeff%matplotlib inline\nx = 1\n"
    assert cell.code == "pass\nx = 1\n"


def test_an_indented_cell_is_moved_left() -> None:
    cell = cell_from_source("    x = 1\n    !ls\n\n    if x:\n        y = 2")
    assert cell.code == "x = 1\npass\n\nif x:\n    y = 2"
    assert cell.source_column(5, 5) == 9


@pytest.mark.parametrize(
    ("source", "code", "line", "shift"),
    [
        ("x = 1", "x = 1", 1, 0),
        ("%time x = 1", "x = 1", 1, 6),
        ("if x:\n    %time y = 1", "if x:\n    y = 1", 2, 6),
        (">>> x = 1\n>>> y", "x = 1\ny", 2, 4),
        ("%cd a", 'os.chdir("a")', 1, 0),
    ],
)
def test_columns_lead_back_to_the_source(source: str, code: str, line: int, shift: int) -> None:
    cell = cell_from_source(source)
    assert cell.code == code
    assert cell.source_column(line, 5) == 5 + shift
    assert cell.source_column(99, 5) == 5


def test_a_cell_that_does_not_parse_is_kept_with_its_problem() -> None:
    cell = cell_from_source("%matplotlib inline\n\nx = ", 2)
    assert cell.code == "pass\n\nx = "
    assert cell.error is not None
    assert (cell.error.line, cell.escapes[0].name) == (3, "matplotlib")


def test_the_place_of_a_problem_is_one_of_the_source() -> None:
    cell = cell_from_source("    x = 1\n    return x")
    assert cell.error == SyntaxProblem("'return' outside function", 2, 5)


@pytest.mark.parametrize("source", ["pip install torch", "cd data\n", "\n\ntime f(x)", "load_ext nbddp"])
def test_one_line_may_be_a_magic_without_its_sign(source: str) -> None:
    cell = cell_from_source(source)
    assert cell.error is None
    assert cell.code.count("\n") == source.count("\n")
    assert len(cell.escapes) == 1


@pytest.mark.parametrize("source", ["pip install torch\nx = 1", "training the model", "time = ", "ls ="])
def test_other_lines_that_are_no_python_stay_wrong(source: str) -> None:
    assert cell_from_source(source).error is not None


@pytest.mark.parametrize("source", ["ls", "time = 3", "cd"])
def test_python_is_never_a_magic_without_its_sign(source: str) -> None:
    assert cell_from_source(source).code == source


def test_magics_nested_beyond_reason_are_an_error() -> None:
    assert cell_from_source("%time " * 3000 + "f()").error is not None


@pytest.mark.parametrize(
    "source",
    [
        "a." * 20_000 + "?",
        "x = (1,\n" + "!ls (\n" * 5_000,
        "!ls (\n" * 5_000,
        "'\\" * 20_000 + "\n!x",
        "%%time\n" * 5_000,
        "!x \\\n" * 20_000,
        "x = !echo " + "$a'" * 1_000,
        "# c\n" * 20_000 + "!x",
    ],
)
def test_hostile_cells_take_no_longer_than_long_ones(source: str) -> None:
    import time

    start = time.process_time()
    cell_from_source(source)
    assert time.process_time() - start < 2
