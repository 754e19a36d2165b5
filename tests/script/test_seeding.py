"""Which random numbers the script has to seed: one that is missed gives each rank other weights."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from nbddp.export import export
from nbddp.notebook import notebook_from_percent
from nbddp.script.from_modules import modules_of
from nbddp.script.layout import lay_out
from nbddp.script.seeding import unseeded
from tests.analysis.cells import BEFORE, IMPORTS, TRAINING, plan

NAMES = "import random\nimport numpy as np\n"
USE = TRAINING.replace("range(3)", "range(3 if k else 3)")


def drawn(*cells: str) -> set[str]:
    made = plan(*cells)
    return set(unseeded(made, lay_out(made, modules_of(made, []), set(), set(), set())))


@pytest.mark.parametrize("seed", ["torch.manual_seed(0)", "def seed_all():\n    torch.manual_seed(0)\n\nseed_all()"])
def test_what_the_notebook_seeds_first_needs_no_other(seed):
    assert drawn(IMPORTS, seed, *BEFORE[1:], TRAINING) == set()


@pytest.mark.parametrize(
    "cells",
    [
        (*BEFORE, TRAINING),
        (*BEFORE, "torch.manual_seed(0)", TRAINING),  # too late for the weights
        (IMPORTS, "def seed_all():\n    torch.manual_seed(0)", *BEFORE[1:], TRAINING),  # never called
        (IMPORTS, "import random\nrandom.seed(0)", *BEFORE[1:], TRAINING),  # of another generator
    ],
)
def test_what_it_does_not_is_the_scripts(cells):
    assert "torch" in drawn(*cells)


@pytest.mark.parametrize(("line", "name"), [("k = random.random()", "random"), ("k = np.random.rand()", "numpy")])
def test_each_generator_for_itself(line, name):
    assert drawn(IMPORTS, NAMES, "torch.manual_seed(0)", *BEFORE[1:], line, USE) == {name}


@pytest.mark.parametrize(
    ("module", "line", "name"),
    [("random", "k = randrange(9)", "random"), ("numpy.random", "k = randn()", "numpy")],
)
def test_functions_that_come_by_a_star_as_well(module, line, name):
    star = f"from {module} import *"
    assert drawn(IMPORTS, star, "torch.manual_seed(0)", *BEFORE[1:], line, USE) == {name}
    own = line.replace("k = ", "def ").replace("(9)", "()") + ": return 3"
    assert drawn(IMPORTS, star, "torch.manual_seed(0)", own, *BEFORE[1:], line.replace("(9)", "()"), USE) == set()


def test_a_generator_that_the_notebook_seeds_itself_is_no_matter_of_the_script():
    own = "stream = torch.Generator().manual_seed(1)\n\ndef noise():\n    return torch.rand(2, generator=stream)"
    assert drawn(IMPORTS, "torch.manual_seed(0)", own, *BEFORE[1:], "k = noise()[0]", USE) == set()


@pytest.mark.parametrize(
    ("text", "seeds"), [("import torch; torch.manual_seed(1)", True), ("import torch; torch.set_num_threads(1)", False)]
)
def test_a_file_that_is_imported_for_what_it_does(text: str, seeds: bool, tmp_path: Path) -> None:
    (tmp_path / "settings.py").write_text(text)
    cells = "\n# %%\n".join([f"{IMPORTS}\nimport settings", *BEFORE[1:], f"# %%ddp_train\n{TRAINING}"])
    script = export(replace(notebook_from_percent(cells, "x.py"), folder=tmp_path)).text
    assert "import settings" in script
    assert ("manual_seed" not in script) is seeds
