"""What a library makes: loaders, models, optimizers and so on."""

from __future__ import annotations

import ast

import pytest

from tests.analysis.cells import BEFORE, batch, node, plan

NAMES = "import copy\nimport math\n"


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        ("DataLoader(train_set)", "loader"),
        ("nn.Linear(2, 2)", "model"),
        ("nn.MSELoss()", "loss"),
        ("torch.optim.Adam(model.parameters())", "optimizer"),
        ("torch.optim.lr_scheduler.StepLR(optimizer, 3)", "scheduler"),
        ("torch.amp.GradScaler()", "scaler"),
        ("copy.deepcopy(model)", "model"),
        ("torch.utils.data.RandomSampler(train_set)", "sampler"),
        ("torch.utils.data.Subset(train_set, [1])", "dataset"),
        ("open('a.txt', 'w')", "file"),
    ],
)
def test_things_that_are_made(call, kind):
    made = plan(*BEFORE, NAMES, f"thing = {call}", batch("n = thing"))
    assert {o.kind for o in made.facts.value(node(made, ast.Call, call)).objs} == {kind}


@pytest.mark.parametrize("call", ["torch.zeros(3)", "math.sqrt(3)", "len(train_set)"])
def test_numbers_are_no_things(call):
    made = plan(*BEFORE, NAMES, f"thing = {call}", batch("n = thing"))
    assert not made.facts.value(node(made, ast.Call, call)).objs


def test_a_copy_is_another_model():
    made = plan(*BEFORE, NAMES, "other = copy.deepcopy(model)", batch("n = other"))
    one, other = (made.facts.value(node(made, ast.Name, name)).objs for name in ("model", "other"))
    assert not one & other
