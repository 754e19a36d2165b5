"""All that a training cell binds comes back, is defined again, or is named as left out with the reason."""

from __future__ import annotations

import ast
import dis
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import torch

from nbddp.analysis.state.live_names import rebound
from nbddp.cli.parse import Refusal
from nbddp.export import Script, export
from nbddp.magics.handover.definitions import define
from nbddp.magics.handover.restoring import restore
from nbddp.magics.handover.start_state import handover
from nbddp.magics.handover.wanted import wanted
from nbddp.notebook import Notebook, cell_from_source, read_notebook
from nbddp.run.folder.result import Result

NOTEBOOKS = sorted((Path(__file__).parents[2] / "e2e" / "notebooks").glob("*.py"))


def delivered(script: Script) -> Result:
    """What a run of it would bring back."""
    for point in script.watch:
        if point.watch.kind == "result":
            return Result(dict.fromkeys(dict(point.watch.state)), dict.fromkeys(point.watch.names))
    return Result()


def stored(code: str) -> set[str]:
    """The names that Python itself stores when it runs the cell."""
    compiled = compile(code, "cell", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    return {
        str(step.argval) for step in dis.get_instructions(compiled) if step.opname in {"STORE_NAME", "STORE_GLOBAL"}
    }


def defined(code: str) -> set[str]:
    kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    names = {node.name for node in ast.parse(code).body if isinstance(node, kinds)}
    imports = [node for node in ast.parse(code).body if isinstance(node, ast.Import | ast.ImportFrom)]
    return names | {(a.asname or a.name).split(".")[0] for node in imports for a in node.names}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_nothing_that_the_cell_binds_is_passed_over_in_silence(path):
    notebook = read_notebook(path)
    script = export(notebook)
    cell = next(cell for cell in notebook.cells if cell.number == script.plan.training_cell)
    result = delivered(script)
    told = result.states.keys() | result.values.keys() | wanted(script.plan, result, {}).keys() | defined(cell.code)
    assert stored(cell.code) - {"_"} <= told
    with suppress(Refusal):  # in a sentence, like any other
        assert handover(script.plan, {}).loops == {}  # no object is there whose training could go on


BEFORE = """\
import copy
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
model = nn.Linear(4, 1)
shadow = copy.deepcopy(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
data = TensorDataset(torch.randn(64, 4), torch.randn(64, 1))"""
TRAIN = """\
epochs = 2
loader = DataLoader(data, batch_size=8, shuffle=True)
def error(x, y):
    return (model(x) - y).square().mean()
for epoch in range(epochs):
    for x, y in loader:
        loss = error(x, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        for p, q in zip(shadow.parameters(), model.parameters()):
            p.data.mul_(0.5).add_(q.data, alpha=0.5)"""


def made(cell: str = TRAIN) -> Any:
    return export(Notebook("x.ipynb", (cell_from_source(BEFORE, 1), cell_from_source(f"%%ddp_train\n{cell}", 2))))


def test_an_average_that_follows_the_model_goes_in_and_comes_back():
    script = made()
    loop = next(point.watch for point in script.watch if point.watch.kind == "epochs")
    assert list(dict(loop.state)) == ["model", "shadow", "optimizer"]
    assert set(delivered(script).states) == {"model", "shadow", "optimizer"}


def test_constants_come_back_and_what_does_not_has_its_reason():
    script = made()
    result = delivered(script)
    assert {"epoch", "epochs", "loss"} <= result.values.keys()
    missing = wanted(script.plan, result, {})
    assert missing["loader"] == "each process has built its own"
    assert missing["x"] == "each process has its own"


def test_a_definition_that_fails_in_the_kernel_is_named():
    script = made(TRAIN.replace("def error(x, y):", "def error(x, y, scale=data[0][0].sum()):"))
    namespace: dict[str, Any] = {}
    assert define(script.plan, namespace) == {
        "error": "its definition failed in the kernel: NameError: name 'data' is not defined"
    }


DICT = """\
models = {"a": nn.Linear(4, 1), "b": nn.Linear(4, 1)}
optimizers = {name: torch.optim.SGD(net.parameters(), lr=0.1) for name, net in models.items()}"""
LIST = """\
nets = [nn.Linear(4, 1) for _ in range(3)]
optimizers = [torch.optim.SGD(net.parameters(), lr=0.1) for net in nets]"""
LOOSE = """\
scale = nn.Parameter(torch.ones(1))
optimizer = torch.optim.SGD([*model.parameters(), scale], lr=0.1)"""
REBOUND = """\
def make(net, optimizer):
    def step(x, y):
        optimizer.zero_grad()
        (net(x) - y).square().mean().backward()
        optimizer.step()
    return step
step = make(model, optimizer)"""
STEP = """\
            optimizer.zero_grad()
            (net(x) - y).square().mean().backward()
            optimizer.step()"""
OVER = {
    "models in a dictionary": (
        DICT,
        f"for name in models:\n            net, optimizer = models[name], optimizers[name]\n{STEP}",
        {"optimizers"},  # a model comes back by its place in a dictionary that is written out
    ),
    "models in a list": (
        LIST,
        f"for net, optimizer in zip(nets, optimizers):\n{STEP}",
        {"nets", "optimizers"},
    ),
    "a parameter of no model": (
        LOOSE,
        f"if True:\n{STEP.replace('net(x)', 'model(x) * scale')}",
        {"scale"},
    ),
}


@pytest.mark.parametrize(("before", "step", "named"), OVER.values(), ids=OVER)
def test_what_was_trained_and_has_no_state_to_bring_back_is_named(before, step, named):
    cell = f"for epoch in range(2):\n    for x, y in DataLoader(data, batch_size=8, shuffle=True):\n        {step}"
    cells = (f"{BEFORE}\n{before}", f"%%ddp_train\n{cell}")
    script = export(Notebook("x.ipynb", tuple(cell_from_source(c, n) for n, c in enumerate(cells, start=1))))
    missing = wanted(script.plan, delivered(script), dict.fromkeys(named))
    assert named <= missing.keys()
    said = " ".join(handover(script.plan, {}).notes)
    assert named == {"scale"} or all(name in said for name in named)


def test_a_name_that_stands_for_something_else_by_now_gets_nothing_of_it():
    """The function has kept the first model; another one has its name."""
    cell = "for epoch in range(2):\n    for x, y in DataLoader(data, batch_size=8, shuffle=True):\n        step(x, y)"
    cells = (f"{BEFORE}\n{REBOUND}", "model = nn.Linear(4, 1)", f"%%ddp_train\n{cell}")
    plan = export(Notebook("x.ipynb", tuple(cell_from_source(c, n) for n, c in enumerate(cells, start=1)))).plan
    other = torch.nn.Linear(4, 1)
    before = {key: value.clone() for key, value in other.state_dict().items()}
    assert rebound(plan) == {"model"}
    assert not handover(plan, {"model": other}).loops
    trained = Result({"model": torch.nn.Linear(4, 1).state_dict()})
    missing = restore(trained, {"model": other}, rebound=rebound(plan))
    assert missing == {"model": "this name now refers to something else: run.load('model') returns it"}
    assert all(torch.equal(before[key], value) for key, value in other.state_dict().items())


def test_what_came_back_into_a_name_that_the_kernel_had_is_not_missing():
    """The cell has run before: its list of models comes back whole, in place of the earlier one."""
    plan = made(f"models = []\n{TRAIN}\nmodels.append(model)").plan
    back = Result({"model": {}, "optimizer": {}})
    assert "models" in wanted(plan, back, {"models": []})
    assert "models" not in wanted(plan, back, {"models": []}, filled={"models"})
