"""Names for what the script adds, and names by which code can reach what it needs."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis.reading.in_scope import readable, state_in_scope
from nbddp.analysis.reading.naming import Naming
from nbddp.analysis.slicing.scopes import local_names
from tests.analysis.cells import BEFORE, TRAINING, node, plan


def test_a_free_name_is_taken_as_it_is():
    assert Naming(frozenset(), {}, {})("DDP") == "DDP"


@pytest.mark.parametrize(
    ("taken", "name", "given"),
    [
        ({"train"}, "train", "train_on_rank"),
        ({"train", "train_on_rank"}, "train", "run_training"),
        ({"share_of"}, "share_of", "share_of_"),
        ({"share_of", "share_of_"}, "share_of", "ddp_share_of"),
    ],
)
def test_a_name_of_the_notebook_is_left_to_it(taken, name, given):
    assert Naming(frozenset(taken), {}, {})(name) == given


def test_the_same_import_is_shared():
    own = {"dist": "torch.distributed"}
    assert Naming(frozenset({"dist"}), {"dist": "torch.distributed"}, own)("dist") == "dist"
    assert Naming(frozenset({"dist"}), {"dist": "scipy.spatial.distance"}, own)("dist") != "dist"
    hidden = frozenset({"dist"})  # by `from torch import *`
    assert Naming(hidden, {"dist": "torch.distributed"}, own, hidden)("dist") != "dist"


def test_every_name_of_the_kept_code_is_the_notebooks():
    made = plan(*BEFORE, "def rank(main):\n    return main\nworld_size = rank(3)", TRAINING.replace("3", "world_size"))
    assert {"rank", "main", "world_size"} <= made.naming.taken
    assert made.naming("rank") != "rank"


def test_state_that_a_checkpoint_needs():
    made = plan(
        *BEFORE, "scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)", TRAINING + "    scheduler.step()\n"
    )
    (epochs,) = made.roles.epoch_loops
    assert state_in_scope(made, epochs) == {"model": "model", "optimizer": "optimizer", "scheduler": "scheduler"}


def test_state_by_the_names_of_a_function():
    lines = (
        "".join(f"    {line}\n" for line in TRAINING.strip().split("\n"))
        .replace("model", "net")
        .replace("optimizer", "opt")
    )
    made = plan(*BEFORE, f"def fit(net, opt):\n{lines}", "fit(model, optimizer)")
    (epochs,) = made.roles.epoch_loops
    assert state_in_scope(made, epochs) == {"net": "net", "opt": "opt"}
    function = made.program.function_of(epochs.node)
    assert function is not None
    assert {"net", "opt"} <= local_names(function)


def test_names_that_can_be_read():
    made = plan(*BEFORE, "def f(a):\n    b = a\n    return b\nf(model)\nc = 1", TRAINING.replace("3", "c"))
    inside = node(made, ast.Name, "b")
    assert readable(made, inside, "a")
    assert readable(made, inside, "model")
    assert not readable(made, inside, "nowhere")
