"""The `%%` lines that open a cell."""

from __future__ import annotations

import pytest

from nbddp.notebook import Escape
from nbddp.notebook.cellmagics import open_cell


@pytest.mark.parametrize(
    ("text", "python"),
    [
        ("%%time\nf()", "\nf()"),
        ("%%capture out\nf()", "\nf()"),
        ("\n\n%%time\nf()", "\n\n\nf()"),
        ("# a comment\n%%time\nf()", "# a comment\n\nf()"),
        ("%%time\n%%capture\n%%ddp_train\nf()", "\n\n\nf()"),
        ("%%time\n\n# c\n%%capture\nf()", "\n\n# c\n\nf()"),
        ("%%timeit x = 1\nf(x)", "x = 1\nf(x)"),
        ("%%timeit -n 1 -r 1\nf(x)", "\nf(x)"),
        ("%%prun -s cumulative f()\ng()", "f()\ng()"),
        ("%%time", ""),
        ("f()\n%%time", "f()\n%%time"),
        ("%%time?", "%%time?"),
        ("%%", "%%"),
        ("", ""),
    ],
)
def test_python_behind_cell_magics(text: str, python: str) -> None:
    opening = open_cell(text)
    assert opening.is_python
    assert opening.text == python


@pytest.mark.parametrize(
    "name", ["bash", "sh", "script python", "html", "javascript", "writefile x.py", "R", "cython", "sql", "!", "python"]
)
def test_what_is_not_known_to_run_its_body_here_is_no_python(name: str) -> None:
    assert not open_cell(f"%%{name}\nx = 1").is_python
    assert not open_cell(f"%%time\n%%{name}\nx = 1").is_python


@pytest.mark.parametrize(
    ("magic", "mode"), [("ddp_train", "ddp"), ("dp_train", "dp"), ("single_train", "single"), ("time", None)]
)
def test_training_magics_name_a_mode(magic: str, mode: str | None) -> None:
    opening = open_cell(f"%%capture\n%%{magic}  --nproc 2  \nf()")
    assert opening.mode == mode
    assert opening.magic_line == ("--nproc 2" if mode else "")
    assert opening.is_python


def test_the_first_of_two_training_magics_counts() -> None:
    opening = open_cell("%%dp_train --devices 0\n%%ddp_train --nproc 2\nf()")
    assert (opening.mode, opening.magic_line) == ("dp", "--devices 0")


def test_each_is_recorded_in_its_line() -> None:
    assert open_cell("\n%%time\n%%capture --no-stderr out\nf()").escapes == (
        Escape(2, "cell magic", "time", "time"),
        Escape(3, "cell magic", "capture", "capture --no-stderr out", "out"),
    )


def test_nothing_behind_a_foreign_magic_is_a_magic() -> None:
    assert [e.name for e in open_cell("%%writefile cell.txt\n%%ddp_train\nf()").escapes] == ["writefile"]
    assert open_cell("%%writefile cell.txt\n%%ddp_train\nf()").mode is None
