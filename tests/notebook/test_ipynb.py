"""Notebook files as JSON, well-formed and not."""

from __future__ import annotations

from typing import Any

import pytest

from nbddp.notebook import CannotRead, notebook_from_json


def v4(*cells: object, **metadata: object) -> dict[str, Any]:
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": metadata, "cells": list(cells)}


def code(source: object, **fields: object) -> dict[str, Any]:
    return {"cell_type": "code", "source": source, "metadata": {}, "outputs": [], **fields}


def test_format_4() -> None:
    markdown = {"cell_type": "markdown", "source": ["# Title\n", "text"], "metadata": {}}
    tagged = code(["%%time\n", "x = 1"], id="c1", execution_count=7, metadata={"tags": ["ddp-train"]})
    notebook = notebook_from_json(v4(markdown, tagged, code("!pip install a"), {"cell_type": "raw"}), "a.ipynb")
    assert (notebook.name, notebook.language, notebook.requires, notebook.path) == ("a.ipynb", "python", ("a",), None)
    assert [(c.number, c.kind) for c in notebook.cells] == [(1, "markdown"), (2, "code"), (3, "code"), (4, "raw")]
    cell = notebook.cells[1]
    assert (cell.source, cell.code, cell.tags, cell.mark) == ("%%time\nx = 1", "\nx = 1", ("ddp-train",), "train")
    assert (cell.id, cell.execution_count) == ("c1", 7)
    assert notebook.cells[0].source == "# Title\ntext"


@pytest.mark.parametrize("version", [2, 3])
def test_format_3_with_its_worksheets(version: int) -> None:
    first = {"cells": [{"cell_type": "code", "input": ["x = 1\n", "%cd y"], "language": "python", "prompt_number": 3}]}
    heading = {"cell_type": "heading", "level": 2, "source": "Title"}
    second = {"cells": [heading, {"cell_type": "code", "input": "1 +", "language": "ruby"}]}
    notebook = notebook_from_json({"nbformat": version, "metadata": {}, "worksheets": [first, second]}, "old.ipynb")
    assert [(c.kind, c.source) for c in notebook.cells] == [
        ("code", "x = 1\n%cd y"),
        ("markdown", "## Title"),
        ("raw", "1 +"),
    ]
    assert notebook.cells[0].execution_count == 3
    assert notebook.cells[0].code == 'x = 1\nos.chdir("y")'


@pytest.mark.parametrize(
    "metadata",
    [
        {},
        {"kernelspec": {"name": "python3", "language": "python"}},
        {"language_info": {"name": "python"}},
        {"kernelspec": {"language": "Python"}, "language_info": {"name": "ipython3"}},
        {"kernelspec": {"name": "torch-env"}},
        {"kernelspec": None, "language_info": []},
        {"language_info": {"name": ""}},
    ],
)
def test_python_notebooks(metadata: dict[str, object]) -> None:
    assert notebook_from_json(v4(code("x"), **metadata), "a").language == "python"


@pytest.mark.parametrize(
    ("metadata", "language"),
    [
        ({"kernelspec": {"name": "ir", "language": "R"}}, "R"),
        ({"language_info": {"name": "julia"}}, "julia"),
        ({"kernelspec": {"language": "python"}, "language_info": {"name": "scala"}}, "scala"),
    ],
)
def test_other_languages(metadata: dict[str, object], language: str) -> None:
    with pytest.raises(CannotRead) as refused:
        notebook_from_json(v4(code("x"), **metadata), "a.ipynb")
    assert refused.value.sentence == f"a.ipynb is a notebook in {language}, not in Python."


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ([], "no list of cells"),
        ("text", "no list of cells"),
        (None, "no list of cells"),
        ({}, "no list of cells"),
        ({"cells": {}}, "no list of cells"),
        ({"worksheets": [{}, 1]}, "no list of cells"),
        ({"nbformat": 5, "cells": []}, "notebook format 5, which is newer than this nbddp can read (4)"),
        ({"nbformat": 1, "cells": []}, "notebook format 1; open and save it in Jupyter"),
        (v4("text"), "cell 1 has no type"),
        (v4(code("x"), {"source": "x"}), "cell 2 has no type"),
        (v4(code("x"), code(5)), "cell 2 has no text"),
        (v4(code(["x", None])), "cell 1 has no text"),
    ],
)
def test_no_notebook_in_one_sentence(data: object, words: str) -> None:
    with pytest.raises(CannotRead) as refused:
        notebook_from_json(data, "a.ipynb")
    sentence = refused.value.sentence
    assert words in sentence
    assert sentence.startswith("a.ipynb ")
    assert sentence.endswith(".")
    assert str(refused.value) == sentence


@pytest.mark.parametrize("version", [None, "4", 4.5, True])
def test_an_odd_version_does_not_keep_cells_from_being_read(version: object) -> None:
    assert len(notebook_from_json({"nbformat": version, "cells": [code("x")]}, "a").cells) == 1


@pytest.mark.parametrize(
    "fields",
    [
        {"source": None},
        {"source": []},
        {"metadata": None},
        {"metadata": {"tags": "ddp-train"}},
        {"metadata": {"tags": [1, {}]}},
        {"id": 5},
        {"execution_count": "*"},
        {"execution_count": True},
    ],
)
def test_small_damage_is_no_obstacle(fields: dict[str, object]) -> None:
    cell = notebook_from_json(v4({**code("x"), **fields}), "a").cells[0]
    assert cell.kind == "code"
    assert cell.id is None
    assert cell.execution_count is None


def test_no_cells_at_all() -> None:
    assert notebook_from_json(v4(), "a").cells == ()
