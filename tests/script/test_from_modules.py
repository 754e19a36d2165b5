"""Modules beside the notebook in the script: imported, or copied where something of them changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from nbddp.export import CannotExport, Script, export
from tests.analysis.cells import DATA, IMPORTS, TRAINING, notebook
from tests.modules.beside import written

NETS = """
    import torch.nn as nn

    WIDTH = 8

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(WIDTH, 2)

        def forward(self, x):
            return self.layer(x)
"""
OPTIMIZER = "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)"
METER = """
    class Meter:
        def __init__(self):
            self.sum = self.count = 0

        def update(self, value, count):
            self.sum += value * count
            self.count += count

        def average(self):
            return self.sum / self.count

    class Bar(Meter):
        pass
"""


def script(folder: Path, files: Mapping[str, str], *cells: str) -> Script:
    return export(replace(notebook(*cells), folder=written(folder, files)))


def imports(found: Script) -> list[str]:
    return [line for line in found.text.split("\n") if line.startswith("from ") and "nets" in line]


@pytest.mark.parametrize(
    ("line", "written_as"),
    [
        ("from nets import Net", "from nets import Net"),
        ("from nets import Net as N", "from nets import Net as N"),
        ("from nets import *", "from nets import Net"),
        ("from nets import Net, WIDTH", "from nets import Net"),  # what nothing of the training needs goes
    ],
)
def test_a_module_that_stays_as_it_is_is_imported(tmp_path: Path, line: str, written_as: str) -> None:
    name = line.rpartition(" ")[2] if " as " in line else "Net"
    found = script(tmp_path, {"nets.py": NETS}, IMPORTS, DATA, line, f"model = {name}()", OPTIMIZER, TRAINING)
    assert imports(found) == [written_as]
    assert "class Net" not in found.text
    assert f"model = {name}()" in found.text
    assert "it needs torch, nets" in found.text
    assert found.diagnostics == ()


def test_a_class_of_the_notebook_on_top_of_one_of_a_module(tmp_path: Path) -> None:
    more = "class Wide(Net):\n    def forward(self, x):\n        return super().forward(2 * x)\nmodel = Wide()"
    found = script(tmp_path, {"nets.py": NETS}, IMPORTS, DATA, "from nets import Net", more, OPTIMIZER, TRAINING)
    assert imports(found) == ["from nets import Net"]
    assert found.text.index("class Wide(Net)") < found.text.index("def train(")


FILES = {"nets.py": NETS, "meters.py": METER, "bars.py": "from meters import Bar\n\n\ndef bar():\n    return Bar()\n"}
SAVING = "def save(model):\n    print('saving')\n    torch.save(model.state_dict(), 'best.pt')\n"


def test_one_that_changes_is_copied_with_a_note(tmp_path: Path) -> None:
    files = {**FILES, "saving.py": f"import torch\n\n\ndef unused():\n    pass\n\n\n{SAVING}"}
    cells = "from saving import save\nfrom nets import Net", "model = Net()", OPTIMIZER, TRAINING + "    save(model)\n"
    found = script(tmp_path, files, IMPORTS, DATA, *cells)
    assert imports(found) == ["from nets import Net"]
    assert "from saving" not in found.text
    assert "unused" not in found.text
    assert "# ── saving.py ──" in found.text
    assert "        torch.save(model.state_dict(), 'best.pt')" in found.text  # of rank 0 alone
    assert [(d.rule, d.level, d.file) for d in found.diagnostics] == [("modules", "note", "saving.py")]


@pytest.mark.parametrize(
    ("cell", "rules"),
    [("torch.manual_seed(0)\nfrom saving import save", ["seed", "modules"]), ("from saving import save", ["modules"])],
)
def test_one_that_seeds_behind_the_notebook_is_told(tmp_path: Path, cell: str, rules: list[str]) -> None:
    files = {**FILES, "saving.py": f"import torch\n\ntorch.manual_seed(42)\n\n\n{SAVING}"}
    cells = cell, "from nets import Net", "model = Net()", OPTIMIZER, TRAINING + "    save(model)\n"
    found = script(tmp_path, files, IMPORTS, DATA, *cells)
    assert sorted(d.rule for d in found.diagnostics if d.file == "saving.py") == sorted(rules)


def test_with_what_imports_from_it(tmp_path: Path) -> None:
    files = {**FILES, "saving.py": f"import torch\n\n\n{SAVING}",
             "ends.py": "from saving import save as keep\n\n\ndef end(model):\n    keep(model)\n"}  # fmt: skip
    cells = "from ends import end\nfrom nets import Net", "model = Net()", OPTIMIZER, TRAINING + "    end(model)\n"
    found = script(tmp_path, files, IMPORTS, DATA, *cells)
    assert [d.file for d in found.diagnostics] == ["ends.py", "saving.py"]
    assert found.text.index("def save(") < found.text.index("keep = save") < found.text.index("def end(")


def test_a_list_of_a_whole_module_that_is_combined_goes_by_its_own_name(tmp_path: Path) -> None:
    cells = "import settings", "model = torch.nn.Linear(4, 2)", OPTIMIZER, TRAINING
    train = cells[-1] + "        settings.history.append(loss.item())\n    print(sum(settings.history))\n"
    found = script(tmp_path, {"settings.py": "history = []\n"}, IMPORTS, DATA, *cells[:-1], train)
    assert "\nfrom settings import history\n" in found.text
    assert "        history[:] = mean_over_ranks(history)\n        print(sum(history))" in found.text


NOISY = """
    import torch
    import torch.nn as nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight, self.dropout = nn.Parameter(torch.zeros(2, 8)), nn.Dropout(0.1)

        def forward(self, x):
            noise = torch.randn_like(self.weight)
            return self.dropout(x) @ (self.weight + noise).T
"""


def test_classes_that_change_are_refused_where_a_file_that_is_not_read_asks_for_them(tmp_path: Path) -> None:
    asks = "from nets import Net\n\n\ndef asked(model):\n    return isinstance(model, Net)\n"
    files = {"nets.py": NOISY, "asks.py": asks,
             "ends.py": "import asks\n\n\ndef end(model):\n    return asks.asked(model)\n"}  # fmt: skip
    cells = IMPORTS, DATA, "from ends import end\nfrom nets import Net", "model = Net()", OPTIMIZER, TRAINING
    assert "same_random_numbers" in script(tmp_path, files, *cells).text  # nothing of the script asks
    with pytest.raises(CannotExport) as refused:
        script(tmp_path, files, *cells[:-1], TRAINING + "    print(end(model))\n")
    errors = [d for d in refused.value.diagnostics if d.level == "error"]
    assert [(d.rule, d.file) for d in errors] == [("modules", "nets.py")]
    assert "asks.py" in errors[0].message


def test_lines_of_a_module_are_of_no_cell(tmp_path: Path) -> None:
    files = {**FILES, "saving.py": f"import torch\n\n\n{SAVING}"}
    cells = "from saving import save\nfrom nets import Net", "model = Net()", OPTIMIZER, TRAINING + "    save(model)\n"
    found = script(tmp_path, files, IMPORTS, DATA, *cells)
    lines = found.text.split("\n")
    assert found.line_map[lines.index("def save(model):")] is None
    assert found.line_map[next(i for i, line in enumerate(lines) if line.strip() == "save(model)")] is not None


@pytest.mark.parametrize("line", ["from nets import Net", "from nets import *"])
@pytest.mark.parametrize("change", ["os.chdir('..')", "os.environ['WIDTH'] = '3'"])
def test_what_comes_before_its_import_comes_before_it_in_the_script(tmp_path: Path, change: str, line: str) -> None:
    cells = f"import os\n{change}", line, "model = Net()", OPTIMIZER, TRAINING
    found = script(tmp_path, {"nets.py": NETS}, IMPORTS, DATA, *cells)
    assert found.text.index(change) < found.text.index("from nets import Net  # noqa: E402")
    assert ("sys.path.insert(0, os.getcwd())" in found.text) is ("chdir" in change)


def test_in_a_folder_that_the_notebook_names(tmp_path: Path) -> None:
    line = "sys.path.append('src')"
    cells = f"import sys\n{line}\nfrom nets import Net", "model = Net()", OPTIMIZER, TRAINING
    found = script(tmp_path, {"src/nets.py": NETS}, IMPORTS, DATA, *cells)
    assert found.text.index(line) < found.text.index("from nets import Net  # noqa: E402")
    assert "find_unused_parameters" not in found.text  # it has been read


@pytest.mark.parametrize("line", ["import nets", "import nets as n"])
def test_a_module_that_is_imported_whole(tmp_path: Path, line: str) -> None:
    model = f"model = {line.rpartition(' ')[2]}.Net()"
    found = script(tmp_path, {"nets.py": NETS}, IMPORTS, DATA, line, model, OPTIMIZER, TRAINING)
    assert line in found.text.split("\n")
    assert model in found.text
    assert "from nets import" not in found.text
    assert "find_unused_parameters" not in found.text  # it has been read
    assert "it needs torch, nets" in found.text


def test_of_a_whole_module_that_changes_what_is_copied_goes_by_its_own_name(tmp_path: Path) -> None:
    files = {"nets.py": NETS, "saving.py": f"import torch\nFOLDER = 'x'\n\n\n{SAVING}"}
    cells = "import saving, nets\nfolder = saving.FOLDER", "model = nets.Net()", OPTIMIZER
    found = script(tmp_path, files, IMPORTS, DATA, *cells, TRAINING + "    saving.save(model)\n    print(folder)\n")
    assert "        save(model)" in found.text
    assert "folder = FOLDER" in found.text
    assert "saving." not in found.text.replace("saving.py", "")
    assert "model = nets.Net()" in found.text
    assert "import nets" in found.text


def test_a_module_whose_name_is_used_for_something_else_is_not_read(tmp_path: Path) -> None:
    cells = "import nets\ndef shown(nets):\n    print(nets)", "model = nets.Net()", OPTIMIZER, TRAINING
    found = script(tmp_path, {"nets.py": NETS}, IMPORTS, DATA, *cells)
    assert "find_unused_parameters" in found.text
