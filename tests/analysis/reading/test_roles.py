"""Loaders, models and loops, through functions, dictionaries and classes."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis import Plan
from tests.analysis.cells import BEFORE, DATA, IMPORTS, MODEL, TRAINING, batch, evaluation, plan

STEP = """        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""


def lines(made: Plan, kind: str) -> list[str]:
    loops = {"batch": made.roles.batch_loops, "epoch": made.roles.epoch_loops, "test": made.roles.evaluation_loops}
    return [made.program.source(f.node).split("\n")[0] for f in loops[kind] if isinstance(f.node, ast.stmt)]


def training_loaders(made: Plan) -> set[str]:
    return {made.program.source(o.node) for o in made.roles.training_loaders}


LOADER = "DataLoader(train_set, batch_size=10, shuffle=True)"


def test_plain_loops():
    made = plan(*BEFORE, evaluation("n = 0", "n += 1", "print(n)"))
    assert lines(made, "batch") == ["for x, y in train_loader:"]
    assert lines(made, "epoch") == ["for epoch in range(3):"]
    assert lines(made, "test") == ["for x, y in test_loader:"]
    assert training_loaders(made) == {LOADER}


@pytest.mark.parametrize(
    "iterable",
    [
        "train_loader",
        "tqdm(train_loader)",
        "tqdm(train_loader, desc='x', leave=False)",
        "iter(train_loader)",
        "loaders['train']",
        "pair[0]",
        "config.loader",
        "make()",
        "get(train_set)",
        "list_of[0]",
        "(train_loader if True else None)",
    ],
)
def test_a_loader_is_found_however_it_is_reached(iterable):
    ways = f"""
from types import SimpleNamespace
from tqdm import tqdm
loaders = {{"train": train_loader, "val": test_loader}}
pair = train_loader, test_loader
config = SimpleNamespace(loader=train_loader)
list_of = [train_loader]
def make():
    return train_loader
def get(data):
    return {LOADER.replace("train_set", "data")}
"""
    made = plan(*BEFORE, ways, TRAINING.replace("train_loader", iterable))
    assert training_loaders(made) <= {LOADER, LOADER.replace("train_set", "data")}
    assert len(made.roles.batch_loops) == 1


def test_a_loop_in_a_function():
    function = "def fit(model, loader, epochs):\n    for epoch in range(epochs):\n        for x, y in loader:\n"
    function += "".join(f"    {line}\n" for line in STEP.rstrip().split("\n"))
    made = plan(*BEFORE, function, "fit(model, train_loader, 3)")
    assert lines(made, "batch") == ["for x, y in loader:"]
    assert lines(made, "epoch") == ["for epoch in range(epochs):"]
    assert training_loaders(made) == {LOADER}


def test_a_loop_in_a_method():
    step = STEP.replace("model(", "self.model(").replace("optimizer", "self.optimizer")
    cls = "class Trainer:\n    def __init__(self, model, optimizer, loader):\n"
    cls += "        self.model, self.optimizer, self.loader = model, optimizer, loader\n"
    cls += "    def fit(self):\n      for x, y in self.loader:\n" + step
    made = plan(
        *BEFORE, cls, "trainer = Trainer(model, optimizer, train_loader)\nfor epoch in range(3):\n    trainer.fit()"
    )
    assert lines(made, "batch") == ["for x, y in self.loader:"]
    assert lines(made, "epoch") == ["for epoch in range(3):"]
    (model,) = made.roles.models
    assert made.program.source(model.obj.node) == "nn.Linear(8, 2)"


def test_a_loop_over_folds_is_no_epoch_loop():
    cell = "for name in ['a', 'b']:\n" + "".join(f"    {line}\n" for line in TRAINING.strip().split("\n"))
    assert lines(plan(*BEFORE, cell), "epoch") == ["for epoch in range(3):"]


def test_two_models_and_their_optimizers():
    models = """
first, second = nn.Linear(8, 8), nn.Linear(8, 2)
one = torch.optim.SGD(first.parameters(), lr=0.1)
two = torch.optim.Adam(list(second.parameters()))
"""
    cell = TRAINING.replace("model(x)", "second(first(x))").replace("optimizer.step()", "one.step(); two.step()")
    made = plan(IMPORTS, DATA, models, cell.replace("optimizer.zero_grad()", "one.zero_grad(); two.zero_grad()"))
    assert [made.program.source(m.obj.node) for m in made.roles.models] == ["nn.Linear(8, 8)", "nn.Linear(8, 2)"]
    assert [len(m.optimizers) for m in made.roles.models] == [1, 1]


@pytest.mark.parametrize(
    ("loss", "count"),
    [("model.loss(x, y)", 1), ("model(x).sum()", 0), ("model.body(x).mean()", 1), ("other(model, x)", 0)],
)
def test_training_past_the_forward_is_seen(loss, count):
    cls = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(8, 2)
    def forward(self, x):
        return self.body(x)
    def loss(self, x, y):
        return F.cross_entropy(self.body(x), y)

def other(net, x):
    return net(x).mean()

model = Net()
"""
    built = MODEL.replace("model = nn.Linear(8, 2)\n", "")
    made = plan(IMPORTS, DATA, cls, built, TRAINING.replace("F.cross_entropy(model(x), y)", loss))
    (model,) = made.roles.models
    assert len(model.bypasses) == count


@pytest.mark.parametrize(
    ("lines", "call", "count"),
    [
        ("print(model.decode(x).mean())", "show(x)", 0),
        ("kept.append(model.decode(x))", "show(x)", 1),
        ("return model.decode(x)", "z = show(x)", 1),
        ("model.decode(x).mean().backward()", "show(x)", 1),
        ("torch.autograd.grad(model.decode(x).mean(), model.parameters())", "show(x)", 1),
    ],
)
def test_what_a_function_only_shows_trains_nothing(lines, call, count):
    cls = f"""
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(8, 2)
    def decode(self, x):
        return self.body(x)
    def forward(self, x):
        return self.decode(x)

kept = []
def show(x):
    {lines}

model = Net()
"""
    step = TRAINING.replace("F.cross_entropy(model(x), y)", f"F.cross_entropy(model(x), y)\n        {call}")
    made = plan(IMPORTS, DATA, cls, MODEL.replace("model = nn.Linear(8, 2)\n", ""), step)
    (model,) = made.roles.models
    assert len(model.bypasses) == count


@pytest.mark.parametrize(("given", "count"), [("", 0), (", x.device", 0), (", self.body.weight", 1)])
def test_a_branch_that_is_not_taken_trains_nothing(given, count):
    cls = f"""
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.size = nn.Linear(8, 2), 4
    def first(self, n, device=None):
        if device is not None:
            return torch.zeros(n, self.size).to(device)
        return torch.zeros(n, self.size){"" if "weight" not in given else " + self.body.weight.sum()"}
    def forward(self, x, h):
        return self.body(x) + h.sum()

model = Net()
"""
    given = given if "weight" not in given else ""
    step = TRAINING.replace("model(x)", f"model(x, model.first(len(x){given}))")
    made = plan(IMPORTS, DATA, cls, MODEL.replace("model = nn.Linear(8, 2)\n", ""), step)
    (model,) = made.roles.models
    assert len(model.bypasses) == count


def test_the_loops_of_the_same_depth_are_ordered_by_their_lines():
    function = "def fit():\n    for x, y in train_loader:\n" + STEP
    cell = "for a in range(2):\n    fit()\nfor b in range(3):\n    fit()\n"
    assert lines(plan(*BEFORE, function, cell), "epoch") == ["for a in range(2):", "for b in range(3):"]


def test_nothing_is_undefined_in_a_whole_notebook():
    assert not plan(*BEFORE, batch("n = loss.item()")).facts.undefined


def test_hidden_state_is_seen():
    made = plan(*BEFORE, TRAINING.replace("range(3)", "range(n_epochs)"))
    assert made.facts.undefined.keys() == {"n_epochs"}


def test_a_part_that_was_trained_before_by_itself_does_not_pass_by_the_model_around():
    around = """class Around(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = model
    def forward(self, x):
        return self.inner(x)
outer = Around()
optimizer = torch.optim.SGD(outer.parameters(), lr=0.1)"""
    made = plan(*BEFORE, TRAINING, around, f"%%ddp_train\n{TRAINING.replace('model(', 'outer(')}")
    assert {m.obj.name: m.bypasses for m in made.roles.models} == {"torch.nn.Linear": (), "Around": ()}


@pytest.mark.parametrize("frozen", ["", "    optimizer.step()\n"])
def test_a_teacher_that_was_trained_before_does_not_pass_by_its_forward(frozen):
    """What a student gives goes through a part of it; the same where its own optimizer moves it is no teacher's."""
    part = """class Part(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Linear(8, 8), nn.Linear(8, 2)
    def forward(self, x):
        return self.classify(self.body(x))
    def classify(self, features):
        return self.head(features)
teacher, student = Part(), nn.Linear(8, 8)
optimizer = torch.optim.SGD(teacher.parameters(), lr=0.1)"""
    distilled = f"""%%ddp_train
moved = torch.optim.SGD(student.parameters(), lr=0.1)
for x, y in train_loader:
    loss = F.cross_entropy(teacher.classify(student(x)), y)
    loss.backward()
    moved.step()
{frozen}"""
    made = plan(*BEFORE, part, TRAINING.replace("model(", "teacher("), distilled)
    (bypasses,) = [m.bypasses for m in made.roles.models if m.obj.name == "Part"]
    assert bool(bypasses) == bool(frozen)
