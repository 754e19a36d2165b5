"""What goes into a run of what earlier trainings have left: values, attributes, or a refusal with its line."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import torch

from nbddp.cli.parse import Refusal
from nbddp.magics.handover.left_behind import left_behind
from tests.analysis.cells import BEFORE, TRAINING, plan

STOPPER = "import copy\nclass Stopper:\n    def __init__(self):\n        self.best, self.state = 9.0, None\n"
FIRST = f"{STOPPER}stopper, kept = Stopper(), None\n{TRAINING}"
LATER = "# %%\n%%ddp_train\n{}\n" + TRAINING
LIVE = {"kept": {"weight": torch.ones(2)}, "stopper": SimpleNamespace(best=0.5, state={"a": 1}, of=object())}


def test_values_and_attributes_go_in_as_the_kernel_has_them():
    cell = FIRST + "    kept = copy.deepcopy(model.state_dict())\n    stopper.best = epoch\n"
    made = plan(*BEFORE, cell, LATER.format("model.load_state_dict(kept)\nmodel.load_state_dict(stopper.state)"))
    found = left_behind(made, LIVE)
    assert found["kept"]["value"]["weight"].tolist() == [1, 1]
    assert found["stopper"] == {"attributes": {"best": 0.5, "state": {"a": 1}}}
    assert left_behind(made, {}) == {}


def test_a_model_is_refused():
    cell = FIRST + "    kept = copy.deepcopy(model)\n"
    made = plan(*BEFORE, cell, LATER.format("model.load_state_dict(kept.state())"))
    with pytest.raises(Refusal, match=r"line 2, needs kept, a model"):
        left_behind(made, {"kept": torch.nn.Linear(1, 1)})


def test_models_go_in_by_their_state():
    """The model that was trained, and a copy of it: what is computed with them needs them as they are."""
    later = LATER.format("shift = teacher(X).mean() + model(X).mean()")
    made = plan(*BEFORE, FIRST, "teacher = copy.deepcopy(model)", later)
    found = left_behind(made, {"model": torch.nn.Linear(8, 2), "teacher": torch.nn.Linear(8, 2), "optimizer": 1})
    assert {name: list(content["state"]) for name, content in found.items() if "state" in content} == {
        "model": ["weight", "bias"],
        "teacher": ["weight", "bias"],
    }
