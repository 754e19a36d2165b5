"""Where the training reaches DDP, and where the bare model stays."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis import Plan
from nbddp.options import Options
from tests.analysis.cells import BEFORE, DATA, IMPORTS, MODEL, TRAINING, nodes, plan

STEP = """\
loss = F.cross_entropy({net}(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()"""


def named(found: Plan) -> list[str]:
    """The places that are written anew, each with its line."""
    (names,) = found.wrapping.names.values()
    return sorted(f"{found.program.source(found.program.statement_of(p))}" for p in names.places)


def trained_in(function: str, call: str, *rest: str) -> Plan:
    return plan(*BEFORE, function, f"for epoch in range(3):\n    {call}", *rest)


def test_the_loop_that_trains_calls_ddp():
    found = plan(*BEFORE, TRAINING)
    assert named(found) == ["loss = F.cross_entropy(model(x), y)"]
    (names,) = found.wrapping.names.values()
    assert (names.text, names.evaluates, set(names.bare)) == ("ddp_model", False, set())


def test_an_evaluation_calls_the_bare_model():
    found = plan(*BEFORE, TRAINING + "    with torch.no_grad():\n        print(model(torch.zeros(1, 8)))\n")
    assert named(found) == ["loss = F.cross_entropy(model(x), y)"]


def test_an_evaluation_that_forgets_no_grad_calls_it_too():
    loop = TRAINING + (
        "    model.eval()\n    for x, y in test_loader:\n        hits = (model(x).argmax(1) == y).sum().item()\n"
        "    model.train()\n"
    )
    assert named(plan(*BEFORE, loop)) == ["loss = F.cross_entropy(model(x), y)"]


def test_a_function_that_trains_is_handed_ddp():
    function = f"def run(net):\n    net.train()\n    for x, y in train_loader:\n        {STEP.format(net='net')}"
    found = trained_in(function, "run(model)")
    assert named(found) == ["run(model)"]


def test_what_such_a_function_does_with_the_model_itself_is_meant_for_the_model():
    function = (
        f"def run(net):\n    for x, y in train_loader:\n        {STEP.format(net='net')}\n"
        "    torch.save(net.state_dict(), 'net.pt')\n    return net"
    )
    found = trained_in(function, "model = run(model)")
    (names,) = found.wrapping.names.values()
    bare = {found.program.source(found.program.statement_of(n)) for n in names.bare}
    assert bare == {"torch.save(net.state_dict(), 'net.pt')", "return net"}


def test_one_call_for_both_needs_a_class_of_its_own():
    function = (
        "def run(net, loader, train):\n    with torch.set_grad_enabled(train):\n        for x, y in loader:\n"
        "            loss = F.cross_entropy(net(x), y)\n            if train:\n                optimizer.zero_grad()\n"
        "                loss.backward()\n                optimizer.step()"
    )
    found = trained_in(function, "run(model, train_loader, True)\n    run(model, test_loader, False)")
    assert found.wrapping.evaluates


def test_an_object_gets_ddp_beside_its_model():
    cls = (
        "class Trainer:\n    def __init__(self):\n        self.model = nn.Linear(8, 2)\n"
        "        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)\n\n    def fit(self):\n"
        "        for x, y in train_loader:\n            loss = F.cross_entropy(self.model(x), y)\n"
        "            self.optimizer.zero_grad()\n            loss.backward()\n            self.optimizer.step()\n"
        "trainer = Trainer()"
    )
    found = plan(IMPORTS, DATA, cls, "for epoch in range(3):\n    trainer.fit()")
    (names,) = found.wrapping.names.values()
    assert names.text == "self.ddp_model"
    assert set(names.places.values()) == {"self.ddp_model"}


@pytest.mark.parametrize(
    "cell",
    [
        "nets = {'a': model}\nnet = nets['a']",  # out of a dictionary
        "net = model if True else None",  # perhaps none
    ],
)
def test_where_it_cannot_be_told_ddp_takes_the_variable(cell):
    found = plan(*BEFORE, cell, TRAINING.replace("model(x)", "net(x)"))
    assert not found.wrapping.names
    assert len(found.wrapping.stands_for) == 1


def test_a_name_that_the_notebook_has_taken_is_left_to_it():
    found = plan(
        IMPORTS, DATA, "ddp_model = 3\n" + MODEL.strip() + "\nprint(ddp_model)", TRAINING + "print(ddp_model)\n"
    )
    (names,) = found.wrapping.names.values()
    assert names.text != "ddp_model"


def test_no_place_is_named_twice():
    found = plan(*BEFORE, TRAINING, options=Options())
    (names,) = found.wrapping.names.values()
    calls = nodes(found, ast.Call, "model(x)")
    assert [c.func for c in calls] == list(names.places)
