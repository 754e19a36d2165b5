"""A notebook with what it needs of modules in cells."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from nbddp.modules import with_modules
from nbddp.notebook import Brought
from tests.analysis.cells import notebook
from tests.modules.beside import codes, read, written

ENGINE = {"engine.py": "device = 'cpu'\ndef fit(model):\n    return model.to(device)\n"}


def test_a_module_becomes_a_cell(tmp_path: Path) -> None:
    found = read(tmp_path, ENGINE, "from engine import fit\nfit(1)", "device = 'meta'")
    assert codes(found) == {
        "engine.py": "device_of_engine = 'cpu'\ndef fit(model):\n    return model.to(device_of_engine)",
        "1": "fit(1)",
        "2": "device = 'meta'",
    }
    assert found.brought == (Brought(1, 1, "fit", "from engine import fit"),)


def test_without_a_folder_or_a_module_it_is_the_same(tmp_path: Path) -> None:
    own = notebook("from engine import fit")
    assert with_modules(own) is own
    elsewhere = replace(own, folder=tmp_path)
    assert with_modules(elsewhere) is elsewhere


def test_a_module_that_must_stay_unread_is_imported(tmp_path: Path) -> None:
    found = read(tmp_path, ENGINE, "from engine import fit\ndef fit():\n    pass")
    assert list(codes(found)) == ["1"]
    assert "from engine import fit" in codes(found)["1"]


@pytest.mark.parametrize("star", ["from torch.nn import *", "from gone import *"])
def test_so_is_one_that_passes_on_what_nobody_knows(tmp_path: Path, star: str) -> None:
    files = {"engine.py": "from layers import *\ndef fit():\n    pass\n", "layers.py": star + "\na = 1\n"}
    assert list(codes(read(tmp_path, files, "from engine import *\nfit(Linear(2, 3))"))) == ["1"]
    assert list(codes(read(tmp_path, files, "from engine import fit\nfit()"))) == ["1"]


def test_so_is_one_whose_names_come_by_a_star_and_mean_something_else_in_a_cell(tmp_path: Path) -> None:
    files = {"engine.py": "from config import *\ndef fit():\n    return RATE\n", "config.py": "RATE = 0.1\n"}
    assert list(codes(read(tmp_path, files, "from engine import fit\nfit()"))) == ["config.py", "engine.py", "1"]
    assert list(codes(read(tmp_path, files, "from engine import fit\nRATE = 3\nfit()"))) == ["1"]


@pytest.mark.parametrize("more", ["engine.device = 'meta'", "def shown(engine):\n    pass"])
def test_so_is_one_that_may_be_changed_from_outside(tmp_path: Path, more: str) -> None:
    found = read(tmp_path, ENGINE, "from engine import fit\nimport engine", more)
    assert list(codes(found)) == ["1", "2"]


def test_cells_with_errors_and_cells_to_skip_ask_for_nothing(tmp_path: Path) -> None:
    folder = written(tmp_path, ENGINE)
    own = replace(notebook("from engine import fit (", "#| ddp: skip\nfrom engine import fit"), folder=folder)
    assert with_modules(own) is own
