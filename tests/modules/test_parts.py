"""What of each module is needed."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from nbddp.modules.parts import origin
from tests.modules.beside import parts

LOSSES = """
    import torch
    import json
    MARGIN = 0.5
    OTHER = 3
    def _norm(x):
        return x / x.norm()
    def pairs(a, b):
        return (_norm(a) * _norm(b)).sum() / MARGIN
    def unused():
        return json
    print("imported")
    if __name__ == "__main__":
        pairs(1, 2)
"""


def needed(folder: Path, files: dict[str, str], cell: str) -> dict[str, list[str]]:
    found = parts(folder, files, cell)[0]
    return {name: [ast.unparse(s).split("\n")[0] for s in part.statements] for name, part in found.items()}


def test_the_names_and_what_they_need(tmp_path: Path) -> None:
    assert needed(tmp_path, {"losses.py": LOSSES}, "from losses import pairs") == {
        "losses": ["MARGIN = 0.5", "def _norm(x):", "def pairs(a, b):"]
    }


def test_of_a_star_what_the_notebook_mentions(tmp_path: Path) -> None:
    found = needed(tmp_path, {"losses.py": LOSSES}, "from losses import *\nprint(OTHER, torch)")
    assert found == {"losses": ["import torch", "OTHER = 3"]}


def test_modules_that_modules_import(tmp_path: Path) -> None:
    files = {
        "lib/__init__.py": "from .models import *\nfrom .data import make",
        "lib/models.py": "from .blocks import Block as B\nclass Net(B):\n    pass\nclass Other:\n    pass",
        "lib/blocks.py": "class Block:\n    pass",
        "lib/data.py": "def make():\n    pass",
    }
    assert needed(tmp_path, files, "from lib import Net") == {
        "lib": ["from .models import *"],
        "lib.models": ["from .blocks import Block as B", "class Net(B):"],
        "lib.blocks": ["class Block:"],
    }


@pytest.mark.parametrize(
    ("head", "given"),
    [("", ["f = 1", "g = 2"]), ("__all__ = ['f']\n", ["f = 1"]), ("__all__ = names()\n", ["f = 1", "g = 2"])],
)
def test_what_a_star_brings(tmp_path: Path, head: str, given: list[str]) -> None:
    found = needed(tmp_path, {"m.py": f"{head}f = 1\ng = 2\n_h = 3"}, "from m import *\nprint(f, g, _h)")
    assert found == {"m": given}


def test_modules_that_import_each_other(tmp_path: Path) -> None:
    files = {"a.py": "from b import *\ndef f():\n    return g()", "b.py": "from a import *\ndef g():\n    return f"}
    assert set(needed(tmp_path, files, "from a import f")) == {"a", "b"}


@pytest.mark.parametrize(
    "cell", ["import losses", "from losses_of_others import pairs", "def f():\n    from losses import pairs"]
)
def test_what_is_no_import_by_name_at_the_top(tmp_path: Path, cell: str) -> None:
    assert needed(tmp_path, {"losses.py": LOSSES}, cell) == {}


def test_where_a_name_stands(tmp_path: Path) -> None:
    files = {
        "lib/__init__.py": "from .models import *\nfrom .models import Net as First\nlast = 1",
        "lib/models.py": "class Net:\n    pass",
    }
    found = parts(tmp_path, files, "from lib import Net, First, last, nothing")[0]
    assert [origin(found, "lib", name) for name in ("Net", "First", "last", "nothing")] == [
        "lib.models", "lib", "lib", None,
    ]  # fmt: skip


def test_a_module_of_the_package_is_no_name_of_it(tmp_path: Path) -> None:
    """`import lib as nf`, `nf.flows.Net()`: what brings it stays where it is."""
    files = {"lib/__init__.py": "from . import flows", "lib/flows.py": "class Net:\n    pass"}
    found = parts(tmp_path, files, "from lib import flows")[0]
    assert origin(found, "lib", "flows") is None
