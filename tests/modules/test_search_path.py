"""Folders that a notebook names."""

from __future__ import annotations

from pathlib import Path

import pytest

from nbddp.modules.search_path import folders
from nbddp.notebook import parse

IMPORTS = "import os, sys\nfrom pathlib import Path\n"
HERE = Path("/notes")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", [HERE]),
        ("sys.path.append('../src')", [HERE, HERE / "../src"]),
        ("sys.path.insert(0, 'a')\nsys.path.insert(0, 'b')", [HERE / "b", HERE / "a", HERE]),
        ("sys.path.append(os.path.abspath(os.path.join('..', 'src')))", [HERE, HERE / "../src"]),
        ("sys.path.append(os.path.dirname(os.getcwd()))", [HERE, HERE / ".."]),
        ("root = Path.cwd().parent\nsys.path.append(str(root / 'src'))", [HERE, HERE / "../src"]),
        ("sys.path.insert(1, str(Path('..').resolve()))", [HERE / "..", HERE]),
        ("os.chdir('/data')", [HERE, Path("/data")]),
        ("sys.path.append(here)", [HERE]),
        ("here = 'a'\nhere = 'b'\nsys.path.append(here)", [HERE]),
        ("here = here\nsys.path.append(here)", [HERE]),
        ("other.path.append('a')", [HERE]),
    ],
)
def test_as_far_as_they_can_be_read_off(text: str, found: list[Path]) -> None:
    assert list(folders(HERE, [parse(IMPORTS + text)])) == found
