"""Which live objects go into which loop, read off the plan."""

from __future__ import annotations

from functools import cache

import pytest
import torch

from nbddp.analysis import Plan
from nbddp.cli.parse import Refusal
from nbddp.export import export
from nbddp.magics.handover.start_state import handover
from nbddp.notebook import Notebook, cell_from_source

BEFORE = """\
import torch
from torch.utils.data import DataLoader, TensorDataset
half = lambda tensor: tensor / 2
x, y = map(lambda shape: half(torch.randn(*shape)), ((64, 4), (64, 1)))
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)"""
TRAIN = """\
%%ddp_train
for epoch in range(2):
    for x, y in DataLoader(TensorDataset(x, y), batch_size=8, shuffle=True):
        optimizer.zero_grad()
        (model(x) - y).square().mean().backward()
        optimizer.step()"""

STEPS = 'optimizer["w"].step(); optimizer["b"].step()'


@cache
def plan_of(before: str) -> Plan:
    plan: Plan = export(Notebook("x.ipynb", (cell_from_source(before, 1), cell_from_source(TRAIN, 2)))).plan
    return plan


def test_functions_without_a_name_are_no_loops():
    model = torch.nn.Linear(4, 1)
    live = {"model": model, "optimizer": torch.optim.SGD(model.parameters(), lr=0.1)}
    assert handover(plan_of(BEFORE), live).loops == {1: live}


def test_an_optimizer_of_another_class_than_the_cells_create_is_refused():
    """The cell that has created it was changed since: its state means nothing to the other."""
    model = torch.nn.Linear(4, 1)
    live = {"model": model, "optimizer": torch.optim.AdamW(model.parameters())}
    with pytest.raises(Refusal, match="notebook's optimizer is of class AdamW, and the cells create one of class SGD"):
        handover(plan_of(BEFORE), live)


def test_optimizers_of_a_dictionary_are_handed_over_by_their_places():
    half = "torch.optim.SGD([model.{}], lr=0.1)"
    made = f"optimizer = {{'w': {half.format('weight')}, 'b': {half.format('bias')}}}"
    before = BEFORE.rpartition("optimizer =")[0] + made
    steps = TRAIN.replace("optimizer.zero_grad()", "model.zero_grad()").replace("optimizer.step()", STEPS)
    cells = (cell_from_source(before, 1), cell_from_source(steps, 2))
    model = torch.nn.Linear(4, 1)
    both = {name: torch.optim.SGD(model.parameters(), lr=0.1) for name in "wb"}
    found = handover(export(Notebook("x.ipynb", cells)).plan, {"model": model, "optimizer": both})
    assert found.loops == {1: {"model": model, "optimizer_w": both["w"], "optimizer_b": both["b"]}}
    assert found.notes == ()


def test_what_is_numbered_along_a_set_of_words_may_be_another_there(monkeypatch):
    model = torch.nn.Linear(4, 1)
    live = {"model": model, "optimizer": torch.optim.SGD(model.parameters(), lr=0.1)}
    words = "words = {w: i for i, w in enumerate(set('a b c'.split()))}"
    made = plan_of(BEFORE.replace("(64, 4)", "(64, 1 + len(words))").replace("half =", f"{words}\nhalf ="))
    monkeypatch.delenv("PYTHONHASHSEED", raising=False)
    (note,) = handover(made, live).notes
    assert note.startswith("Cell 1 depends on the order of set('a b c'.split()). Each process orders a set")
    assert handover(plan_of(BEFORE), live).notes == ()
    monkeypatch.setenv("PYTHONHASHSEED", "7")
    assert handover(made, live).notes == ()


SETUP = """\
import torch
from torch.utils.data import DataLoader, TensorDataset
x, y = torch.randn(64, 4), torch.randn(64, 1)
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
def fit(model, optimizer, history, epochs=2):
    for epoch in range(epochs):
        history.append(turn())
def turn():
    total = 0.0
    for a, b in DataLoader(TensorDataset(x, y), batch_size=8, shuffle=True):
        optimizer.zero_grad()
        loss = (model(a) - b).square().mean()
        loss.backward()
        optimizer.step()
        total += loss.item()
    return total
class Trainer:
    def __init__(self):
        self.best, self.seen = 1e9, []
    def fit(self):
        for epoch in range(2):
            self.best = min(self.best, turn())
            self.seen.append(self.best)
    def begin(self):
        self.best = 1e9
trainer = Trainer()
best, losses, steps = 1e9, [], 0"""
LOOP = """\
for epoch in range(2):
    losses.append(turn())
    best = min(best, losses[-1])
    steps += 1"""
LIVE = {"best": 0.5, "losses": [3.0, 0.5], "steps": 7}
GOES_ON = {
    "all of them": (LOOP, LIVE),
    "what the cell sets itself": (f"best, losses = 1e9, []\n{LOOP}", {"steps": 7}),
    "what it fills before": (f"losses.append(9.0)\n{LOOP}", {"best": 0.5, "steps": 7}),
    "an argument": ("fit(model, optimizer, losses)", {"history": [3.0, 0.5]}),
    "an argument that is set in the cell": ("losses = []\nfit(model, optimizer, losses)", {}),
    "an argument that has no name": ("fit(model, optimizer, [])", {}),
    "attributes": ("trainer.fit()", {"self.best": 0.25, "self.seen": [0.25]}),
    "attributes that are set before": ("trainer.begin()\ntrainer.fit()", {"self.seen": [0.25]}),
    "of a thing that the cell builds": ("trainer = Trainer()\ntrainer.fit()", {}),
}


class Trainer:
    best, seen = 0.25, (0.25,)


@pytest.mark.parametrize(("cell", "values"), GOES_ON.values(), ids=GOES_ON)
def test_plain_values_of_earlier_cells_go_on_as_they_are(cell, values):
    model = torch.nn.Linear(4, 1)
    trainer = Trainer()
    trainer.seen = [0.25]
    live = {"model": model, "optimizer": torch.optim.SGD(model.parameters(), lr=0.1), "trainer": trainer, **LIVE}
    cells = (cell_from_source(SETUP, 1), cell_from_source(f"%%ddp_train\n{cell}", 2))
    assert handover(export(Notebook("x.ipynb", cells)).plan, live).values == values


def test_where_one_value_cannot_go_on_none_does_and_that_is_said():
    """A best so far without the model that was best would keep none at all."""
    live = {**LIVE, "best": object()}
    cells = (cell_from_source(SETUP, 1), cell_from_source(f"%%ddp_train\n{LOOP}", 2))
    found = handover(export(Notebook("x.ipynb", cells)).plan, live)
    assert not found.values
    assert "best, losses, steps: these start as the cells set them, because 'best' cannot be passed" in str(found)
    live = {**LIVE, "kept": None}
    keeping = f"{LOOP}\n    if best == losses[-1]:\n        kept = copy.deepcopy(model)"
    before = cell_from_source(f"import copy\n{SETUP}\nkept = None", 1)
    found = handover(export(Notebook("x.ipynb", (before, cell_from_source(f"%%ddp_train\n{keeping}", 2)))).plan, live)
    assert not found.values
    assert "because 'kept' cannot be passed to the processes (it is a model, or differs" in str(found.notes)
