"""What a script says of itself."""

from __future__ import annotations

import ast

import pytest

from nbddp.options import Options
from nbddp.script.from_modules import modules_of
from nbddp.script.header import header
from nbddp.script.layout import lay_out
from tests.analysis.cells import BEFORE, TRAINING, plan


def text(*cells: str, options: Options | None = None) -> str:
    made = plan(*BEFORE, *cells, options=options)
    found = "\n".join(line.text for line in header(made, lay_out(made, modules_of(made, []), set(), set(), set())))
    docstring = ast.literal_eval(found)
    assert isinstance(docstring, str)
    return docstring


def test_it_names_the_model_the_commands_and_the_notebook():
    found = text(TRAINING)
    assert "`model` (Linear)" in found
    assert "python test_ddp.py --nproc 4" in found
    assert "torchrun" in found
    assert "Exported from test.py" in found


@pytest.mark.parametrize(("cell", "device"), [("model.cuda()", "all GPUs"), ("pass", "several processes")])
def test_which_devices(cell, device):
    assert device in text(cell, TRAINING)


@pytest.mark.parametrize(("nproc", "said"), [(4, "on 4 processes."), (1, "on one process.")])
def test_how_many_processes_where_the_notebook_says_it(nproc, said):
    found = text("model.cuda()", TRAINING, options=Options(nproc=nproc))
    assert said in found
    assert "every GPU" not in found


@pytest.mark.parametrize(
    ("cell", "needs"),
    [
        ("import numpy as np\nnp.random.seed(0)", "it needs torch, numpy"),
        ("import os\nos.environ['A'] = '1'", "it needs torch alone"),
        ("pass", "it needs torch alone"),
    ],
)
def test_what_it_needs(cell, needs):
    assert needs in text(cell, TRAINING)


def test_what_the_notebook_hands_over_and_installs():
    handed = text("slow = torch.zeros(3)", TRAINING.replace("range(3)", "slow"), options=Options(snapshot=("slow",)))
    assert "hands over slow" in handed
    assert "installs: einops" in text("!pip install einops\nimport einops\neinops.pack", TRAINING)
    assert "hands over" not in text(TRAINING)
    assert "installs" not in text(TRAINING)


def test_a_number_to_change_is_shown_where_there_is_one():
    cell = '# %% tags=["parameters"]\nlearning_rate = 0.1'
    training = TRAINING + "    print(learning_rate)\n"
    assert "--learning-rate 0.05" in text(cell, training)
    assert "--learning-rate" not in text("learning_rate = 0.1", training)
