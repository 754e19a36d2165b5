"""Which names of the kernel what comes back can mean; how it is read is in `tests/run/watching/test_objects.py`."""

from __future__ import annotations

import json

from nbddp.export import export
from nbddp.magics.handover.whole_objects import write_names
from nbddp.run.folder.folder import RunFolder
from tests.analysis.cells import DATA, IMPORTS, MODEL, TRAINING, notebook

CELL = "def half(x):\n    return x / 2\n" + MODEL + TRAINING


def test_what_the_cell_builds_anew_is_none_of_them(tmp_path):
    script = export(notebook(IMPORTS, DATA, CELL))
    namespace = {"model": object(), "loader": object(), "loss": 0.5, "_": 1, "old": 2}
    write_names(RunFolder(tmp_path), script.plan, namespace)
    assert json.loads((tmp_path / "kernel.json").read_text()) == ["half", "loader", "old"]
