"""The import block: what is used, merged, sorted, with its comments."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from nbddp.script.import_comments import comments_of
from nbddp.script.imports import bound_by, import_block, kept_imports
from nbddp.script.regions import regions
from tests.analysis.cells import MODEL, TRAINING, plan

DATA = "train_loader = DataLoader(TensorDataset(torch.randn(9, 8)), batch_size=3)"


def kept(imports: str, used: set[str]) -> list[str]:
    made = plan(
        imports, "import torch\nfrom torch.utils.data import DataLoader, TensorDataset\n" + DATA, MODEL, TRAINING
    )
    statements = [s for s in made.program.statements if s.cell.number == 1]
    return kept_imports(statements, used, comments_of(made.program, statements, regions(made)))


@pytest.mark.parametrize(
    ("imports", "used", "lines"),
    [
        ("import os, sys", {"sys"}, ["import sys"]),
        ("import a.b", {"a"}, ["import a.b"]),
        ("import a.b as c", {"c"}, ["import a.b as c"]),
        ("import a.b as b", {"b"}, ["from a import b"]),
        ("from a import b, c as d, e", {"b", "d"}, ["from a import b, c as d"]),
        ("from .a import b", {"b"}, ["from .a import b"]),
        ("from a import *", set(), ["from a import *"]),
        ("from __future__ import annotations", set(), ["from __future__ import annotations"]),
        ("import os  # why", {"os"}, ["import os  # why"]),
        ("# above\nimport os, sys", {"os", "sys"}, ["# above\nimport os", "import sys"]),
        ("# gone\nimport os", set(), []),
        ("#| ddp: setup\nimport os", {"os"}, ["import os"]),
        ("from a import (  # one\n    b,  # two\n    c,\n)", {"b"}, ["from a import b  # one  # two"]),
    ],
)
def test_kept_imports(imports, used, lines):
    assert kept(imports, used) == lines


@pytest.mark.parametrize(
    ("lines", "block"),
    [
        (["import torch", "import sys", "import os"], ["import os", "import sys", "", "import torch"]),
        (["from b import x", "import b"], ["import b", "from b import x"]),
        (["from a import y", "from a import x", "from a import x"], ["from a import x, y"]),
        (["from a import f, C, KB"], ["from a import KB, C, f"]),
        (["from .own import x", "import z"], ["import z", "", "from .own import x"]),
        (["import z", "from __future__ import annotations"], ["from __future__ import annotations", "", "import z"]),
        (["from a import b as c, d"], ["from a import b as c", "from a import d"]),
        (["import b", "# why\nimport c  # x"], ["import b", "", "# why", "import c  # x"]),
        (["from a import b  # x", "from a import c  # y"], ["from a import b, c  # x  # y"]),
        (["import os", "from torch import *", "import a"], ["import os", "", "import a", "from torch import *"]),
        (["import torch", "from a import *", "import os"], ["import torch", "", "from a import *", "", "import os"]),
        (["from z import *", "from a import DataLoader"], ["from z import *", "", "from a import DataLoader"]),
        (
            ["from a import *", "from __future__ import annotations", "import os"],
            ["from __future__ import annotations", "", "from a import *", "", "import os"],
        ),
    ],
)
def test_import_block(lines, block):
    assert import_block(lines) == block


def test_ruff_has_nothing_to_say(tmp_path: Path):
    pytest.importorskip("ruff")
    names = [f"Name{i}" for i in range(20)]
    lines = [
        "import torch.nn.functional as F",
        "from torch import nn  # layers",
        "import zlib",
        "# above\nimport os  # behind",
        f"from torch.utils.data import {', '.join(names)}",
        "from torch.utils.data import Name3 as Other",
        "import numpy as np",
        "from .mine import thing",
        "from torch.optim import *",
        "from __future__ import annotations",
    ]
    path = tmp_path / "block.py"
    path.write_text("\n".join(import_block(lines)) + "\n")
    command = [sys.executable, "-m", "ruff", "check", "--isolated", "--no-cache", "--select", "I", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + path.read_text()


def test_bound_by():
    found = bound_by(["import torch.nn.functional as F", "from torch import nn  # x", "import a.b"])
    assert found == {"F": "torch.nn.functional", "nn": "torch.nn", "a": "a"}
