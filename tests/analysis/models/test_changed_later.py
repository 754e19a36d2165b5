"""Models that DDP would look at too early."""

from __future__ import annotations

import pytest

from tests.analysis.cells import DATA, IMPORTS, plan

CELLS = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(8, 4)
        self.head = nn.Linear(4, 2)
        {inside}

    def forward(self, x):
        return self.head(self.body(x))

class Whole(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = Net()
        self.net.head = nn.Linear(4, 2)

class Trainer:
    def __init__(self):
        self.model = Net()

    def setup(self):
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)

    def fit(self, loader):
        for x, y in loader:
            self.optimizer.zero_grad()
            F.cross_entropy(self.model(x), y).backward()
            self.optimizer.step()

trainer = Trainer()
{between}
trainer.setup()
"""


@pytest.mark.parametrize(
    ("between", "inside", "reason"),
    [
        ("", "", ""),
        ("", "self.head = nn.Linear(4, 2)", ""),
        ("trainer.model.name = 'net'", "", ""),
        ("trainer.model.head = nn.Linear(4, 2)", "", "'trainer.model.head = nn.Linear(4, 2)' changes it after"),
        ("trainer.model.head.weight = nn.Parameter(torch.zeros(2, 4))", "", "'trainer.model.head.weight = "),
        (
            "for p in trainer.model.body.parameters():\n    p.requires_grad = False",
            "",
            "'p.requires_grad = False' changes",
        ),
        ("setattr(trainer.model, 'head', nn.Linear(4, 2))", "", "'setattr(trainer.model, "),
        ("trainer.model.add_module('head', nn.Linear(4, 2))", "", "'trainer.model.add_module("),
        ("torch.nn.utils.parametrizations.weight_norm(trainer.model.head)", "", "'torch.nn.utils.parametrizations"),
        ("names = []\nnames.append(trainer.model)", "", ""),
        ("trainer.model.body.requires_grad_(False)", "", "'trainer.model.body.requires_grad_(False)' changes it"),
    ],
)
def test_what_is_changed_once_it_has_been_built(between, inside, reason):
    made = plan(IMPORTS, DATA, CELLS.format(between=between, inside=inside), "trainer.fit(train_loader)")
    assert [bool(reason)] == [not made.wrapping.homes]
    assert all(text.startswith(reason) for text in made.wrapping.averaged.values())


@pytest.mark.parametrize(
    ("lines", "wrapped"),
    [
        ("model = whole.net", True),
        ("whole.load_state_dict(whole.state_dict())\nmodel = whole.net", False),
        ("model = whole.net\nmodel.head = nn.Linear(4, 2)", False),
    ],
)
def test_a_part_of_a_model_that_is_taken_out(lines, wrapped):
    training = "for x, y in train_loader:\n    optimizer.zero_grad()\n    F.cross_entropy(model(x), y).backward()\n"
    cells = f"{CELLS.format(between='', inside='')}\nwhole = Whole()\n{lines}\n"
    optimizer = "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)"
    made = plan(IMPORTS, DATA, cells + optimizer, f"{training}    optimizer.step()")
    assert bool(made.wrapping.homes) is wrapped


PARTS = """
class Part(nn.Module):
    def __init__(self):
        super().__init__()
        self.make()

    def make(self):
        self.inner = nn.Linear(8, 2)

    def forward(self, x):
        return self.inner(x)

class Both(nn.Module):
    def __init__(self, part):
        super().__init__()
        self.part = part

    def forward(self, x):
        return self.part(x)

part = Part()
model = Both(part)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
"""


def test_a_part_that_is_made_before_is_no_change():
    training = "for x, y in train_loader:\n    optimizer.zero_grad()\n    F.cross_entropy(model(x), y).backward()\n"
    made = plan(IMPORTS, DATA, PARTS, f"{training}    optimizer.step()")
    assert made.wrapping.homes
