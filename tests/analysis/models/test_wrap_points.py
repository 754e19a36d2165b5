"""Where DDP takes a model over: by what name, and after which statement."""

from __future__ import annotations

import pytest

from nbddp.analysis import Plan
from tests.analysis.cells import BEFORE, DATA, IMPORTS, TRAINING, plan

OPTIMIZER = "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)"


def made(*cells: str) -> Plan:
    return plan(IMPORTS, DATA, *cells, TRAINING)


def home(*cells: str) -> tuple[str, str]:
    found = made(*cells)
    (one,) = found.wrapping.homes.values()
    return one.name, found.program.source(one.ready)


@pytest.mark.parametrize(
    ("cell", "ready"),
    [
        ("model = nn.Linear(8, 2)", "model = nn.Linear(8, 2)"),
        ("model = nn.Linear(8, 2)\nmodel.to('cuda')", "model.to('cuda')"),
        ("model = nn.Linear(8, 2)\nmodel = model.cuda()", "model = model.cuda()"),
        ("model = nn.Linear(8, 2)\nmodel.load_state_dict(torch.load('x'))", "model.load_state_dict(torch.load('x'))"),
        ("model = nn.Linear(8, 2)\nmodel.bias.requires_grad = False", "model.bias.requires_grad = False"),
        ("model = nn.Linear(8, 2)\nb = model.bias\nb.requires_grad = False", "b.requires_grad = False"),
        ("model = nn.Linear(8, 2)\nprint(model)", "model = nn.Linear(8, 2)"),
    ],
)
def test_a_model_is_taken_over_when_it_is_complete(cell, ready):
    assert home(cell, OPTIMIZER) == ("model", ready)


def test_a_loop_that_freezes_belongs_to_building():
    loop = "for p in model.parameters():\n    p.requires_grad = False"
    assert home(f"model = nn.Linear(8, 2)\n{loop}\nmodel.bias.requires_grad = True", OPTIMIZER)[1].startswith(
        "model.bias"
    )


def test_a_function_that_builds():
    cell = "def build(n):\n    net = nn.Linear(n, 2)\n    return net\nmodel = build(8)"
    assert home(cell, OPTIMIZER) == ("model", "model = build(8)")


def test_a_model_that_is_trained_past_its_forward_is_not_taken_over():
    cls = "class Net(nn.Linear):\n    def loss(self, x, y):\n        return self(x).mean()\nmodel = Net(8, 2)"
    found = plan(IMPORTS, DATA, cls, OPTIMIZER, TRAINING.replace("F.cross_entropy(model(x), y)", "model.loss(x, y)"))
    assert not found.wrapping.homes
    assert len(found.wrapping.averaged) == 1


def test_a_loop_trains_by_one_function_that_calls_the_model_and_another_that_goes_back():
    functions = "def gap(x, y):\n    return F.cross_entropy(model(x), y)\n\n\ndef learn(loss):\n    loss.backward()\n"
    functions += "    optimizer.step()\n    optimizer.zero_grad()\n"
    loop = "for x, y in train_loader:\n    model.train()\n    learn(gap(x, y))"
    made = plan(*BEFORE, functions, loop)
    (home,) = made.wrapping.homes.values()
    assert not made.program.source(home.ready).startswith("for ")


def test_a_teacher_that_is_trained_before_ends_no_building_of_another():
    teacher = """for a, b in train_loader:
    to.zero_grad()
    F.cross_entropy(teacher(a), b).backward()
    to.step()"""
    inject = """def inject(m):
    for name, child in m.named_children():
        if isinstance(child, nn.Linear):
            setattr(m, name, nn.Sequential(child, nn.Tanh()))
        else:
            inject(child)"""
    made_of = "nn.Sequential(nn.Sequential(nn.Linear(8, 2)))"
    models = f"teacher, model = {made_of}, {made_of}\nto = torch.optim.SGD(teacher.parameters(), lr=0.1)"
    found = plan(IMPORTS, DATA, inject, f"{models}\n{teacher}\ninject(model)\n{OPTIMIZER}\n{TRAINING}")
    assert "inject(model)" in {found.program.source(h.ready) for h in found.wrapping.homes.values()}
