"""Names by which code reaches what is trained: a wrong one saves another thing's state."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis.reading import expressions_among, held_in_containers, readable, single_start, state_in_scope
from nbddp.analysis.reading.in_scope import one_of_several
from tests.analysis.cells import BEFORE, DATA, IMPORTS, MODEL, TRAINING, plan

INNER = "".join(f"    {line}\n" for line in TRAINING.strip().split("\n"))
PAIR = """
net, other = nn.Linear(8, 2), nn.Linear(8, 2)
optimizer = torch.optim.SGD([*net.parameters(), *other.parameters()], lr=0.1)
"""


def state(*cells: str) -> dict[str, str]:
    made = plan(IMPORTS, DATA, *cells)
    (loop,) = made.roles.epoch_loops
    return state_in_scope(made, loop)


@pytest.mark.parametrize(
    ("cells", "found"),
    [
        ((MODEL, TRAINING), {"model": "model", "optimizer": "optimizer"}),
        ((MODEL + "alias_of_it = model\n", TRAINING), {"model": "model", "optimizer": "optimizer"}),
        (
            (MODEL, "def fit(net, opt):\n" + INNER.replace("model(", "net(").replace("optimizer.", "opt."),
             "fit(model, optimizer)"),
            {"net": "net", "opt": "opt"},
        ),
        ((PAIR, TRAINING.replace("model(x)", "other(net(x).repeat(1, 4))")),
         {"net": "net", "other": "other", "optimizer": "optimizer"}),
        (
            (MODEL, "class T:\n    def __init__(self):\n        self.net = model\n        self.opt = optimizer\n"
             "    def fit(self):\n" + "".join(f"    {line}\n" for line in INNER.split("\n")), "T().fit()"),
            {"net": "self.net", "opt": "self.opt"},  # the method's own before names of the cells
        ),
    ],
)  # fmt: skip
def test_what_a_checkpoint_holds_by_its_names(cells, found):
    assert state(*cells) == found


def test_a_part_of_a_model_comes_with_it():
    """A loop that is gone through twice has a model with such a part in one of them only."""
    head = (
        "class Head(nn.Module):\n    def __init__(self, body):\n        super().__init__()\n        self.body = body\n"
    )
    head += "    def forward(self, x):\n        return self.body(x)\n"
    fit = "def fit(net, opt):\n" + INNER.replace("model(", "net(").replace("optimizer.", "opt.")
    calls = "fit(model, optimizer)\nlarger = Head(model)\nfit(larger, torch.optim.SGD(larger.parameters(), lr=0.1))"
    assert state(MODEL, head, fit, calls) == {"net": "net", "opt": "opt"}


def test_a_name_that_stands_for_two_objects_has_what_both_have():
    fit = INNER.replace("model(", "self.net(").replace("optimizer.", "self.opt.").replace("\n", "\n    ")
    init = "class T:\n    def __init__(self, net, opt):\n        self.net, self.opt = net, opt\n"
    kept = "first = T(None, None)\nsecond = T(model, optimizer)\n(first if input() else second).fit()"
    assert state(MODEL, f"{init}    def fit(self):\n    {fit}", kept) == {"net": "self.net", "opt": "self.opt"}


def test_a_model_that_is_made_after_a_first_training_is_not_there_in_it():
    fit = "def fit(net, opt):\n" + INNER.replace("model(", "net(").replace("optimizer.", "opt.")
    later = (
        "second = nn.Linear(8, 2)\nthird = nn.Linear(8, 2)\noptimizer3 = torch.optim.SGD(third.parameters(), lr=0.1)\n"
    )
    again = "fit(second, torch.optim.SGD(second.parameters(), lr=0.1))\n"
    last = TRAINING.replace("model(", "third(").replace("optimizer.", "optimizer3.")
    made = plan(IMPORTS, DATA, MODEL, fit, f"fit(model, optimizer)\n{later}{again}{last}")
    first = next(loop for loop in made.roles.epoch_loops if loop.function is not None)
    assert state_in_scope(made, first) == {"net": "net", "opt": "opt"}


def test_a_models_name_is_another_in_a_function_that_binds_it_in_the_loop():
    """One of a fold, below one of the cells that is called the same: before the loop there is none."""
    made_there = "        model = nn.Linear(8, 2)\n        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
    step = (
        "            loss = F.cross_entropy(model(inputs), labels)\n            optimizer.zero_grad()\n"
        "            loss.backward()\n            optimizer.step()\n"
    )
    own = {"model": "model", "optimizer": "optimizer"}
    data = "inputs, labels = torch.randn(100, 8), torch.randint(0, 2, (100,))\n"
    folds = f"def fit():\n    for fold in range(2):\n{made_there}        for epoch in range(3):\n{step}"
    made = plan(IMPORTS, data, MODEL, folds, f"for turn in range(3):\n{step}fit()")
    assert {ast.unparse(f.node.target): state_in_scope(made, f) for f in made.facts.loops.values()} == {
        "turn": own, "fold": {}, "epoch": own,
    }  # fmt: skip


def test_what_stands_in_a_list_only_is_named_by_its_list():
    nets = "nets = [nn.Linear(8, 2) for _ in range(2)]\noptimizer = torch.optim.SGD(nets[0].parameters(), lr=0.1)\n"
    made = plan(IMPORTS, DATA, nets, TRAINING.replace("model(x)", "nets[0](x)"))
    (loop,) = made.roles.epoch_loops
    assert "model" not in state_in_scope(made, loop)
    assert held_in_containers(made, loop) == ["nets"]


def test_a_list_of_what_has_a_name_of_its_own_is_not_needed():
    made = plan(*BEFORE, "nets = [model]", TRAINING.replace("model(x)", "nets[0](x)"))
    (loop,) = made.roles.epoch_loops
    assert held_in_containers(made, loop) == []


def test_without_a_loop_over_epochs_there_is_one_start():
    cell = TRAINING.replace("for epoch in range(3):", "if True:")
    found = single_start(plan(*BEFORE, cell))
    assert found is not None
    assert dict(found.state) == {"model": "model", "optimizer": "optimizer"}
    assert single_start(plan(*BEFORE, TRAINING)) is None


@pytest.mark.parametrize(("name", "yes"), [("model", True), ("loss", True), ("nowhere", False)])
def test_whether_code_at_a_place_can_read_a_name(name, yes):
    made = plan(*BEFORE, TRAINING)
    (loop,) = made.roles.epoch_loops
    assert readable(made, loop.node, name) is yes


def test_an_expression_that_stands_for_more_than_is_allowed_is_none():
    both = "either = train_loader if input() else test_loader\n"
    made = plan(IMPORTS, DATA + both, MODEL, TRAINING.replace("    for x", "    print(either)\n    for x"))
    (loop,) = made.roles.epoch_loops
    (train,) = made.sharding.loaders
    assert expressions_among(made, loop.node, {"either": loop.names["either"]}, train, {train}) == []
    assert expressions_among(made, loop.node, loop.names, train, {train}) == ["train_loader"]


OPTIMIZER = "\noptimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"


def several(cell: str, name: str = "model", training: str = TRAINING) -> bool:
    made = plan(IMPORTS, DATA, cell + OPTIMIZER, training)
    loop = next(f for f in made.facts.loops.values() if f.backward and isinstance(f.node, ast.For) and
                ast.unparse(f.node.target) == "epoch")  # fmt: skip
    return one_of_several(made, loop.node, loop.names, name)


@pytest.mark.parametrize(
    "cell",
    [
        "nets = [nn.Linear(8, 2) for _ in range(3)]\nmodel = nets[0]",
        "nets = []\nfor k in range(3):\n    model = nn.Linear(8, 2)\n    nets.append(model)",
        "nets = [nn.Linear(8, 2), nn.Linear(8, 2)]\nfor model in nets:\n    print(model)",
    ],
)
def test_one_of_those_that_a_container_keeps(cell):
    assert several(cell)


@pytest.mark.parametrize(
    "cell",
    ["model = nn.Linear(8, 2)", "model = nn.Linear(8, 2)\nkept = [model]", "model = nn.Sequential(nn.Linear(8, 2))"],
)
def test_one_alone(cell):
    assert not several(cell)


def test_in_the_loop_over_them_its_variable_is_right():
    cell = "nets = [nn.Linear(8, 2) for _ in range(3)]\nmodel = nets[0]"
    inner = "".join(f"    {line}\n" for line in TRAINING.strip().split("\n")).replace("model(", "net(")
    assert not several(cell, "net", f"for net in nets:\n{inner}")
