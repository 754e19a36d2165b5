"""Which names of the kernel hold which things."""

from __future__ import annotations

import pytest

from nbddp.analysis import Plan
from nbddp.analysis.state import are_many, is_untouched, made_here, names_holding, only_filled, rebound
from nbddp.analysis.values import Obj
from tests.analysis.cells import BEFORE, TRAINING, batch, plan

MORE = """
class Trainer:
    def __init__(self, net):
        self.net = net

trainer = Trainer(model)
nets = [model]
twins = {"a": model}
alone = 3
"""


def model_of(made: Plan) -> Obj:
    return next(m.obj for m in made.roles.models)


def test_names_that_hold_a_model_themselves_or_one_step_away():
    made = plan(*BEFORE, MORE, batch("n = trainer, nets, twins, alone"))
    assert set(names_holding(made, {model_of(made)})) >= {"model", "trainer", "nets", "twins"}
    assert "alone" not in names_holding(made, {model_of(made)})


def test_a_name_that_was_bound_anew_after_the_training_holds_something_else():
    made = plan(*BEFORE, TRAINING, "model = 3")
    assert rebound(made) == {"model"}
    assert "model" not in names_holding(made, {model_of(made)})
    assert rebound(plan(*BEFORE, TRAINING, "other = 3")) == frozenset()


def test_whether_the_training_cell_builds_it():
    found = plan(*BEFORE, TRAINING)
    assert not made_here(found, model_of(found))
    found = plan(*BEFORE[:2], BEFORE[2] + TRAINING)
    assert made_here(found, model_of(found))


@pytest.mark.parametrize(
    ("cell", "many"),
    [
        ("nets = [nn.Linear(8, 2) for _ in range(2)]\nmodel = nets[0]", True),
        ("for k in range(2):\n    model = nn.Linear(8, 2)", True),
        ("model = nn.Linear(8, 2)", False),
        ("def make():\n    return nn.Linear(8, 2)\n\nmodel = make()", False),
    ],
)
def test_whether_a_loop_has_built_several(cell, many):
    made = plan(*BEFORE[:2], cell + "\noptimizer = torch.optim.SGD(model.parameters(), lr=0.1)", TRAINING)
    assert are_many(made, model_of(made)) is many


def test_names_that_a_cell_only_fills():
    made = plan(*BEFORE, "log, other = [], []", batch("log.append(epoch)", "other = [1]", "other.append(2)"))
    assert {"log"} <= only_filled(made)
    assert not {"other", "epoch", "loss"} & only_filled(made)


@pytest.mark.parametrize(
    ("name", "untouched"), [("train_loader", True), ("train_set", True), ("model", False), ("alone", False)]
)
def test_what_no_training_changes(name, untouched):
    assert is_untouched(plan(*BEFORE, MORE, batch("n = alone")), name) is untouched
