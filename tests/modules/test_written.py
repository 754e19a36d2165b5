"""The text of the cells that modules become, and of the notebook's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from nbddp.modules.written import brought, without_imports
from nbddp.notebook import Cell
from tests.modules.beside import codes, parts, read

FILES = {
    "models/unet.py": """
        from __future__ import annotations
        import torch
        from torch import nn
        from .blocks import Block as B, WIDTH
        from . import far

        # what we trained in May
        # and in June
        class UNet(nn.Module):
            b = B, WIDTH, far
    """,
    "models/blocks.py": "WIDTH = 3\n\n\nclass Block:\n    pass\n",
}


def test_needed_lines_stand_where_they_stood(tmp_path: Path) -> None:
    found = read(tmp_path, FILES, "from models.unet import UNet")
    cell = next(c for c in found.cells if c.file == "models/unet.py")
    assert cell.code.split("\n") == [
        "from __future__ import annotations", "", "from torch import nn", "B = Block", "from models import far", "",
        "# what we trained in May", "# and in June", "class UNet(nn.Module):", "    b = B, WIDTH, far", "",
    ]  # fmt: skip
    assert (cell.number, cell.module) == (0, "models.unet")


@pytest.mark.parametrize(
    ("code", "left", "lines"),
    [
        ("from m import f", "", ["from m import f"]),
        ("from m import f  # ours", "  # ours", ["from m import f"]),
        ("from m import (f,\n    g as h,\n    x)\nf()", "from m import x; h = g\n\n\nf()",
         ["from m import f", "from m import g as h"]),
        ("a = 1; from m import f; b = 2", "a = 1; pass; b = 2", ["from m import f"]),
        ("from m import *\nf()", "\nf()", ["from m import *"]),
        ("if a:\n    from m import f", "if a:\n    from m import f", []),
        ("from n import f", "from n import f", []),
    ],
)  # fmt: skip
def test_the_notebook_without_its_imports(tmp_path: Path, code: str, left: str, lines: list[str]) -> None:
    found, (tree,) = parts(tmp_path, {"m.py": "def f():\n    pass\ndef g():\n    pass"}, code + "\nprint(f, g)")
    assert without_imports(code, tree, found) == left
    cell = Cell(3, "code", code, code)
    assert [one.text for one in brought(cell, tree, found)] == lines
    assert {(one.cell, one.line) for one in brought(cell, tree, found)} <= {(3, 1)}


def test_what_others_need_comes_first(tmp_path: Path) -> None:
    found = read(tmp_path, FILES, "from models.unet import UNet\nprint(UNet)")
    assert list(codes(found)) == ["models/blocks.py", "models/unet.py", "1"]
