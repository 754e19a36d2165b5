"""Names that mean something else in a module than in the notebook."""

from __future__ import annotations

from pathlib import Path

import pytest

from nbddp.modules.meanings import told_apart
from tests.modules.beside import parts

ENGINE = "import numpy as np\ndevice = 'cpu'\ndef fit(model):\n    return model.to(device), np, str(model)"


@pytest.mark.parametrize(
    ("cell", "renames"),
    [
        ("from engine import fit", {}),
        ("from engine import fit, device", {}),
        ("import numpy as np\nfrom engine import fit", {}),
        ("from engine import fit\ndevice = 'cuda'", {"device": "device_of_engine"}),
        ("def f(device):\n    return device\nfrom engine import fit", {}),
    ],
)
def test_what_only_its_module_calls_so_gets_another_name(tmp_path: Path, cell: str, renames: dict[str, str]) -> None:
    found, hidden = told_apart(*parts(tmp_path, {"engine.py": ENGINE}, cell))
    assert (found["engine"].renames, hidden) == (renames, set())


@pytest.mark.parametrize(
    "cell",
    [
        "from engine import fit\ndef fit(model):\n    pass",
        "from engine import fit, device\ndevice = 'cuda'",
        "import torch as np\nfrom engine import fit",
        "from engine import fit\nstr = 3",
    ],
)
def test_modules_that_stay_unread(tmp_path: Path, cell: str) -> None:
    assert told_apart(*parts(tmp_path, {"engine.py": ENGINE}, cell))[1] == {"engine"}


@pytest.mark.parametrize(
    ("line", "unread"),
    [
        ("here = os.path.dirname(__file__)", {"paths"}),
        ("here = os.listdir(*__path__)", {"paths"}),
        ("here = logging.getLogger(__name__)", set()),
    ],
)
def test_a_module_that_reads_where_it_stands_stays_unread(tmp_path: Path, line: str, unread: set[str]) -> None:
    assert (
        told_apart(*parts(tmp_path, {"paths.py": f"import os, logging\n{line}"}, "from paths import here"))[1] == unread
    )


def test_two_modules_with_one_name(tmp_path: Path) -> None:
    other = "device = 'meta'\ndef data():\n    return device"
    found, hidden = told_apart(*parts(tmp_path, {"engine.py": ENGINE, "other.py": other},
                                      "from engine import fit, device\nfrom other import data"))  # fmt: skip
    assert not hidden
    assert (found["engine"].renames, found["other"].renames) == ({}, {"device": "device_of_other"})
