"""Files: each that cannot be read is told in one sentence, and nothing but CannotRead is raised."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import nbddp
from nbddp.notebook import CannotRead, read_notebook

NOTEBOOK = json.dumps({"nbformat": 4, "metadata": {}, "cells": [{"cell_type": "code", "source": "x = 'ü'"}]})


def write(folder: Path, name: str, content: bytes | str) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.mark.parametrize("name", ["a.ipynb", "a.json", "a"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_notebooks(tmp_path: Path, name: str, encoding: str) -> None:
    path = write(tmp_path, name, NOTEBOOK.encode(encoding))
    if encoding == "utf-8-sig" and name != "a.ipynb":
        path = path.rename(tmp_path / "b.ipynb")
    notebook = read_notebook(path)
    assert (notebook.path, notebook.name, notebook.cells[0].code) == (path, path.name, "x = 'ü'")
    assert read_notebook(str(path)) == notebook


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "utf-16-le"])
def test_json_in_its_other_encodings(tmp_path: Path, encoding: str) -> None:
    text = json.dumps(json.loads(NOTEBOOK), ensure_ascii=False)
    path = write(tmp_path, "a.ipynb", text.encode(encoding))
    assert read_notebook(path).cells[0].code == "x = 'ü'"


def test_percent_files(tmp_path: Path) -> None:
    path = write(tmp_path, "a.py", "# %%\nx = 'ü'\n# %%\ny\n")
    assert [c.code for c in read_notebook(path).cells] == ["x = 'ü'", "y"]


def test_percent_files_in_another_encoding(tmp_path: Path) -> None:
    path = write(tmp_path, "a.py", "# -*- coding: latin-1 -*-\n# %%\nx = 'ü'\n".encode("latin-1"))
    assert read_notebook(path).cells[0].code == "x = 'ü'"


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("a.ipynb", "", "a.ipynb is empty."),
        ("a.ipynb", " \n\n", "a.ipynb is empty."),
        ("a.py", "", "a.py is empty."),
        ("a.ipynb", "x = 1", "a.ipynb is not a notebook: it is not JSON (line 1, column 1: Expecting value)."),
        ("a.ipynb", '{"cells": [', "a.ipynb is not a notebook: it is not JSON (line 1, column 12: Expecting value)."),
        ("a.ipynb", "{}", "a.ipynb is not a notebook: it is JSON, but has no list of cells."),
        ("a.ipynb", "[1]", "a.ipynb is not a notebook: it is JSON, but has no list of cells."),
        ("a.ipynb", "<!DOCTYPE html>", "a.ipynb is a web page that shows a notebook, not the notebook itself."),
        (
            "a.ipynb",
            "version https://git-lfs.github.com/spec/v1\n",
            "a.ipynb is a Git LFS pointer; `git lfs pull` fetches the notebook itself.",
        ),
        (
            "a.ipynb",
            '{"cells": [\n<<<<<<< HEAD\n1\n=======\n2\n>>>>>>> b\n]}',
            "a.ipynb contains a git merge conflict, which has to be resolved first.",
        ),
        ("a.md", "# Title", "a.md is neither a .ipynb notebook nor a .py file."),
        ("a", b"\x7fELF", "a is neither a .ipynb notebook nor a .py file."),
    ],
)
def test_no_notebook(tmp_path: Path, name: str, content: str | bytes, sentence: str) -> None:
    path = write(tmp_path, name, content)
    with pytest.raises(CannotRead) as refused:
        read_notebook(path)
    assert refused.value.sentence == sentence
    assert refused.value.path == path


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.ipynb", b'{"cells": "\xff"}', "is not readable as JSON"),
        ("a.ipynb", "[" * 200_000, "is not readable as JSON"),
        ("a.ipynb", '{"cells": ' + "9" * 10_000 + "}", ""),
        ("a.py", b"x = '\xff'", "is not text in the encoding that it declares"),
        ("a.py", "# coding: nonsense\n", "is not text in the encoding that it declares"),
    ],
)
def test_bytes_that_are_no_text(tmp_path: Path, name: str, content: str | bytes, words: str) -> None:
    with pytest.raises(CannotRead) as refused:
        read_notebook(write(tmp_path, name, content))
    assert words in refused.value.sentence


def test_no_file(tmp_path: Path) -> None:
    path = tmp_path / "a.ipynb"
    with pytest.raises(CannotRead) as refused:
        read_notebook(path)
    assert refused.value.sentence == f"There is no file {path}."


def test_a_folder(tmp_path: Path) -> None:
    with pytest.raises(CannotRead) as refused:
        read_notebook(tmp_path)
    assert refused.value.sentence == f"{tmp_path} is a folder, not a notebook."


def test_no_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path) -> bytes:  # the tests may run as root, whom no mode stops
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "read_bytes", refuse)
    with pytest.raises(CannotRead) as refused:
        read_notebook("a.ipynb")
    assert refused.value.sentence == "a.ipynb cannot be read: permission denied."


@pytest.mark.parametrize("path", ["a\0b.ipynb", "x" * 5000])
def test_paths_that_no_file_can_have(path: str) -> None:
    with pytest.raises(CannotRead, match=r"cannot be read: .*\.$"):
        read_notebook(path)


def seconds(work: Callable[[], object]) -> float:
    """The best of five; other programs only ever add to it."""
    times = []
    for _ in range(5):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def test_five_hundred_cells_take_little_longer_than_compiling_them(tmp_path: Path) -> None:
    source = (
        "class Net{0}(nn.Module):\n    def forward(self, x):\n        return self.fc({0} * x + 1)\n\n\ny = '!{0}'\n"
    )
    sources = [source.format(number) for number in range(500)]
    cells = [{"cell_type": "code", "source": text.splitlines(True), "metadata": {}} for text in sources]
    path = write(tmp_path, "a.ipynb", json.dumps({"nbformat": 4, "cells": cells}))
    compiling = seconds(lambda: [compile(text, "a", "exec") for text in sources])
    assert seconds(lambda: read_notebook(path)) < 5 * compiling


def test_reading_loads_neither_torch_nor_jupyter() -> None:
    code = (
        "import sys, nbddp.notebook; print([m for m in ('torch', 'IPython', 'nbformat', 'libcst') if m in sys.modules])"
    )
    root = Path(nbddp.__file__).parents[1]
    result = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"
