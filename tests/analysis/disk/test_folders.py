"""Where a notebook goes to another folder."""

from __future__ import annotations

import pytest

from nbddp.analysis.disk import folder_changes, has_modules
from tests.analysis.cells import BEFORE, TRAINING, plan


@pytest.mark.parametrize(
    ("cell", "found"),
    [
        ("%cd data", [("'data'", True)]),
        ("import os\nos.chdir('/data')", [("'/data'", False)]),
        ("import os\nname = 'a'\nos.chdir(f'/data/{name}')", [("f'/data/{name}'", False)]),
        ("from os import chdir\nchdir('data')", [("'data'", False)]),
        ("import os\nos.listdir('data')", []),
        ("import os\nwhere = os.getcwd()", []),
    ],
)
def test_changes(cell, found):
    made = plan(cell, *BEFORE, TRAINING)
    changes = list(folder_changes(made))
    assert [(made.program.source(c.folder).replace('"', "'"), c.magic) for c in changes] == found


@pytest.mark.parametrize(
    ("after", "there"),
    [
        ("import helpers\nhelpers.setup()", True),
        ("import numpy as np\nnp.zeros(3)", False),
        ("os.chdir('..')\nimport helpers\nhelpers.setup()", False),
    ],
)
def test_whether_it_imports_modules_there(after, there):
    made = plan(*BEFORE, f"import os\nos.chdir('data')\n{after}", TRAINING)
    assert has_modules(made, next(iter(folder_changes(made)))) is there
