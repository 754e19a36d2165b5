"""What calls give: functions, models, classes and partials of the notebook, and what is not known."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis.values import Extent
from tests.analysis.cells import BEFORE, DATA, IMPORTS, TRAINING, batch, extent, node, plan, seen

NET = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(8, 2)

    def forward(self, x):
        return self.inner(x)

    def loss(self, x, y):
        return F.cross_entropy(self(x), y)

    def count(self):
        return 3

model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
"""


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("score(loss.item())", Extent.VARYING),
        ("score(3)", Extent.UNIFORM),
        ("score(len(train_loader))", Extent.UNIFORM),
        ("score(value=x)", Extent.VARYING),
    ],
)
def test_of_what_is_not_read_a_share_gives_what_is_not_understood(call, expected):
    assert seen(call, f"n = {call}", before="from scipy.special import expit as score") is expected


def test_a_function_of_the_notebook_gives_what_its_body_does():
    half = "def half(value, by=2):\n    return value / by\n"
    assert seen("half(loss.item())", "n = half(loss.item())", before=half) is Extent.MEAN
    assert seen("half(loss.item(), by=len(x))", "n = half(loss.item(), by=len(x))", before=half) is Extent.VARYING


def test_a_model_gives_something_for_each_sample():
    assert seen("model(x)", "n = model(x)") is Extent.SAMPLES


def test_a_model_that_gets_what_all_ranks_have_gives_it_whole():
    assert seen("model(w)", "n = model(w)", before="w = torch.zeros(4, 8)") is Extent.REPEATED


def test_a_loss_is_a_mean_or_what_its_reduction_says():
    before = "mean = nn.MSELoss()\ntotal = nn.MSELoss(reduction='sum')\neach = nn.MSELoss(reduction='none')"
    for name, expected in (("mean", Extent.MEAN), ("total", Extent.SUM), ("each", Extent.SAMPLES)):
        assert seen(f"{name}(x, y)", f"n = {name}(x, y)", before=before) is expected


def test_a_method_of_a_model_that_computes_with_it_is_noted():
    made = plan(IMPORTS, DATA, NET, TRAINING.replace("F.cross_entropy(model(x), y)", "model.loss(x, y)"))
    fact = made.facts.calls[node(made, ast.Call, "model.loss(x, y)")]
    assert {name for name, _ in fact.methods} == {"loss"}
    assert fact.runs_modules
    assert extent(made, "model.loss(x, y)") is Extent.MEAN


def test_a_method_of_a_model_that_computes_nothing_is_none_that_runs_it():
    made = plan(IMPORTS, DATA, NET, batch("n = model.count()"))
    assert not made.facts.calls[node(made, ast.Call, "model.count()")].runs_modules


def test_modules_in_the_fields_of_a_model_are_parts_of_it():
    made = plan(IMPORTS, DATA, NET, TRAINING)
    (model,) = (m.obj for m in made.roles.models)
    assert model.name == "Net"
    assert {o.name: {p.name for p in owners} for o, owners in made.facts.contained.items()} == {
        "torch.nn.Linear": {"Net"}
    }


def test_a_dataclass_holds_what_it_is_made_of():
    row = "from dataclasses import dataclass\n\n@dataclass\nclass Row:\n    step: int\n    loss: float\n"
    assert seen("row.loss", "row = Row(epoch, loss.item())", "n = row.loss", before=row) is Extent.MEAN
    assert seen("row.step", "row = Row(epoch, loss.item())", "n = row.step", before=row) is Extent.UNIFORM


KEPT = """
from dataclasses import dataclass, field

@dataclass
class Base:
    losses: list = field(default_factory=list)

@dataclass
class Kept(Base):
    step: int = 0
"""


def test_a_dataclass_makes_what_it_holds_for_each_instance():
    both = f"{KEPT}\nkept, other = Kept(), Kept()\nother.losses.append(1.0)\n"
    assert seen("kept.losses[0]", "kept.losses.append(loss.item())", "n = kept.losses[0]", before=both) is Extent.MEAN
    assert (
        seen("other.losses[0]", "kept.losses.append(loss.item())", "n = other.losses[0]", before=both) is Extent.UNIFORM
    )
    assert seen("given.losses", "given = Kept(loss.item())", "n = given.losses", before=KEPT) is Extent.MEAN


def test_a_partial_passes_on_what_it_was_given():
    before = (
        "from functools import partial\n\ndef scale(by, value):\n    return value * by\n\ntwice = partial(scale, 2)\n"
    )
    assert seen("twice(loss.item())", "n = twice(loss.item())", before=before) is Extent.MEAN


def test_an_instance_that_can_be_called_runs_its_method():
    before = "class Total:\n    def __call__(self, values):\n        return values.sum()\n\ntotal = Total()\n"
    assert seen("total(x)", "n = total(x)", before=before) is Extent.SUM


@pytest.mark.parametrize(("module", "runs"), [("nn.Linear(8, 2)", True), ("len", False)])
def test_calls_of_models_are_told_from_others(module, runs):
    made = plan(*BEFORE, f"other = {module}", batch("n = other(x)"))
    called = made.facts.calls[node(made, ast.Call, "other(x)")].called
    assert any(o.kind == "model" for o in called) is runs


def test_layers_built_in_a_step_know_the_share_alone_and_those_of_a_list_do_not():
    built = f"{IMPORTS}{DATA}"
    layers = "layers = nn.Sequential(*[nn.BatchNorm1d(8) for _ in range(2)], nn.Linear(8, 2))\n"
    net = "for _ in range(2):\n    norm = nn.BatchNorm1d(8)\n    model = nn.Sequential(norm, nn.Linear(8, 2))\n"
    step = "    loss = F.cross_entropy({model}, y)\n    loss.backward()\n    optimizer.step()\n"
    for before, model, told in (
        (layers + "model = layers\n", "model(x)", False),
        (net, "model(norm(x))", False),
        ("model = nn.Linear(8, 2)\n", "model(nn.BatchNorm1d(8)(x))", True),
        ("model = nn.Linear(8, 2)\n", "model(nn.LayerNorm(x.shape)(x))", True),
        ("model = nn.Linear(8, 2)\n", "model(nn.LayerNorm(x.shape[1:])(x))", False),
    ):
        optimizer = "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
        made = plan(built, f"{before}{optimizer}for x, y in train_loader:\n{step.format(model=model)}")
        assert bool(made.facts.against_statistic) is told, (before, model)
