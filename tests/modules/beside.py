"""A notebook in a folder with modules beside it."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from textwrap import dedent

from nbddp.modules import with_modules
from nbddp.modules.parts import Parts, parts_of
from nbddp.notebook import Notebook, parse
from tests.analysis.cells import notebook


def written(folder: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        folder.joinpath(name).parent.mkdir(parents=True, exist_ok=True)
        folder.joinpath(name).write_text(dedent(text).lstrip("\n"), encoding="utf-8")
    return folder


def read(folder: Path, files: Mapping[str, str], *cells: str) -> Notebook:
    return with_modules(replace(notebook(*cells), folder=written(folder, files)))


def parts(folder: Path, files: Mapping[str, str], cell: str) -> tuple[Parts, list[ast.Module]]:
    trees = [parse(dedent(cell))]
    return parts_of(written(folder, files), trees, [], ()), trees


def codes(found: Notebook) -> dict[str, str]:
    """The lines that are not empty, by the file or the number of the cell."""
    lines = {c.file or str(c.number): c.code.split("\n") for c in found.cells}
    return {name: "\n".join(line for line in code if line.strip()) for name, code in lines.items()}
