"""Parameters that are frozen or freed once DDP has looked at them."""

from __future__ import annotations

import pytest

from nbddp.analysis.models import set_in_each_turn, thaws_later
from nbddp.analysis.models.unfreezing import moved_later
from tests.analysis.cells import DATA, IMPORTS, TRAINING, plan

MODEL = """
model = nn.Sequential(nn.Linear(8, 4), nn.Linear(4, 2))
other = nn.Linear(8, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

def free(net):
    for p in net.parameters():
        p.requires_grad = True
"""
ALL = "for p in model.parameters():\n    p.requires_grad = {}\n"


def in_epoch(text: str) -> str:
    inner = "".join(f"    {line}\n" for line in text.rstrip("\n").split("\n"))
    return TRAINING.replace("    for x, y in", inner + "    for x, y in")


def late(*cells: str) -> bool:
    made = plan(IMPORTS, DATA, MODEL, *cells)
    return thaws_later(made, next(m.obj for m in made.roles.models if m.obj.name.endswith("Sequential")))


@pytest.mark.parametrize(
    "cells",
    [
        (in_epoch("if epoch == 1:\n    " + ALL.format("True").replace("\n    ", "\n        ")),),
        (in_epoch("model[0].weight.requires_grad_(epoch > 1)"),),
        (in_epoch("free(model)"),),
        (TRAINING + "free(model)\n" + TRAINING,),
        (TRAINING + ALL.format("True") + TRAINING,),
    ],
)
def test_within_or_between_trainings(cells):
    assert late(*cells)


@pytest.mark.parametrize(
    "cells",
    [
        (ALL.format("False"), TRAINING),
        ("free(model)", TRAINING),
        (TRAINING,),
        (in_epoch("free(other)"),),
        (in_epoch("x0 = torch.zeros(1).requires_grad_(True)"),),
    ],
)
def test_before_the_training_or_of_another(cells):
    assert not late(*cells)


@pytest.mark.parametrize(
    ("first", "last", "anew"),
    [
        (ALL.format("True"), ALL.format("False"), True),
        ("model.requires_grad_(True)", "model.requires_grad_(False)", True),
        ("free(model)", "", True),
        ("", ALL.format("False"), False),
        ("model[0].requires_grad_(True)", "model.requires_grad_(False)", False),
        ("if epoch == 1:\n    free(model)", "", False),
    ],
)
def test_what_is_set_before_the_model_runs_is_set_anew_in_each_turn(first, last, anew):
    made = plan(IMPORTS, DATA, MODEL, in_epoch(first) + "".join(f"    {line}\n" for line in last.splitlines()))
    model = next(m.obj for m in made.roles.models if m.obj.name.endswith("Sequential"))
    (loop,) = (f.node for f in made.roles.epoch_loops)
    assert set_in_each_turn(made, model, loop) is anew


@pytest.mark.parametrize(
    ("device", "move", "later"),
    [
        ("torch.device('cuda' if torch.cuda.is_available() else 'cpu')", "to(device)", False),
        ("torch.device('cuda') if torch.cuda.is_available() else torch.device('cpu')", "to(device)", False),
        ("torch.device('cuda')", "to(torch.device('cpu'))", True),
        ("torch.device('cuda')", "to('cpu')", True),
        ("torch.device('cuda')", "cpu()", True),
    ],
)
def test_moved_away_and_back(device, move, later):
    moves = in_epoch(f"model.{move}\nmodel.to(device)")
    made = plan(IMPORTS, DATA, MODEL, f"device = {device}\nmodel.to(device)", moves)
    (model,) = [m.obj for m in made.roles.models if m.obj.name.endswith("Sequential")]
    assert moved_later(made, model) is later
