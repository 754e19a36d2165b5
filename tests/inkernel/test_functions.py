"""Functions of other cells, watched while a cell runs: the same objects, at the same lines."""

from __future__ import annotations

import functools
import traceback
from types import CodeType
from typing import Any

import pytest

from nbddp.analysis import Plan, make_plan
from nbddp.edits.edit import Edit, after
from nbddp.inkernel.functions import alike, watched
from nbddp.notebook import Notebook, cell_from_source
from nbddp.options import Options

DEFINED = """\
import functools, torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
loader = DataLoader(TensorDataset(torch.zeros(4, 2)), batch_size=2, shuffle=True)

def fit(model, optimizer, double=lambda x: 2 * x):
    def inner(x):
        return double(x)
    for (x,) in loader:
        optimizer.zero_grad()
        model(x).mean().backward()
        optimizer.step()
    return inner(1 / one)  # here

class Trainer:
    @staticmethod
    def run(model, optimizer):
        for (x,) in loader:
            model(x).mean().backward()
            optimizer.step()
"""
CELL = """\
model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(2):
    fit(model, optimizer)
    Trainer.run(model, optimizer)
"""


def plan() -> Plan:
    cells = (cell_from_source(DEFINED, 1), cell_from_source(CELL, 2))
    return make_plan(Notebook("", cells), Options(2))


def edits(found: Plan) -> list[Edit]:
    """A word after each step of an optimizer."""
    calls = [c.node for c in found.facts.calls.values() if c.optimizers]
    return [after(found.program, "test", found.program.statement_of(call), "heard.append(1)") for call in calls]


def compiled(tree: Any) -> CodeType:
    code: CodeType = compile(tree, "<edited>", "exec", dont_inherit=True)
    return code


@pytest.fixture
def names() -> dict[str, Any]:
    found: dict[str, Any] = {"heard": [], "one": 1}
    exec(compile("\n\n" + DEFINED, "<the cell>", "exec"), found)  # its first line is the third
    return found


def test_watched_functions_speak_and_are_at_home(names):
    found = plan()
    functions, others = watched(found, edits(found), names, compiled)
    assert others == []
    assert {w.function.__qualname__ for w in functions} == {"fit", "Trainer.run"}
    own = [w.function.__code__ for w in functions]
    for w in functions:
        w.function.__code__ = w.code
    exec(CELL, names)
    assert len(names["heard"]) == 8
    names["one"] = 0
    with pytest.raises(ZeroDivisionError) as caught:
        names["fit"](names["model"], names["optimizer"])
    frame = traceback.extract_tb(caught.value.__traceback__)[-1]
    line = 2 + DEFINED.split("\n").index("    return inner(1 / one)  # here") + 1
    assert (frame.filename, frame.lineno, frame.name) == ("<the cell>", line, "fit")
    assert all(alike(a, b) is False for a, b in zip(own, [w.code for w in functions], strict=True))


def test_a_function_that_is_not_as_written_is_left_alone(names):
    names["fit"] = lambda _model, _optimizer: None
    found = plan()
    functions, others = watched(found, edits(found), names, compiled)
    assert others == ["fit"]
    assert [w.function.__qualname__ for w in functions] == ["Trainer.run"]


def test_through_a_decorator(names):
    fit = names["fit"]

    @functools.wraps(fit)
    def timed(*args):
        return fit(*args)

    names["fit"] = timed
    found = plan()
    functions, _ = watched(found, edits(found), names, compiled)
    assert fit in [w.function for w in functions]
