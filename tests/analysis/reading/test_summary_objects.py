"""Names that hold one of several things: their state would be that of one for all."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis.reading.summary_objects import one_of_several
from tests.analysis.cells import DATA, IMPORTS, TRAINING, plan

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
