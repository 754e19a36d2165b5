"""Functions that build a loader for the training and others for evaluations."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis import Plan
from nbddp.analysis.loaders.shared_builder import can_be_asked, end_of_parameters
from tests.analysis.cells import DATA, IMPORTS, MODEL, TRAINING, plan

BATCHES = """
def batches({parameters}):
    loader = DataLoader(data, batch_size=10, shuffle=True)
    for x, y in loader:
        yield x, y
"""
CELL = TRAINING.replace("for x, y in train_loader", "for x, y in batches({arguments})") + (
    "    with torch.no_grad():\n        for x, y in batches(test_set):\n            print(len(x))\n"
)


def planned(parameters: str = "data", arguments: str = "train_set", before: str = "", body: str = BATCHES) -> Plan:
    return plan(IMPORTS, DATA, before + body.format(parameters=parameters), MODEL, CELL.format(arguments=arguments))


def test_a_generator_of_batches_is_told():
    made = planned()
    ((obj, share),) = made.sharding.shares.items()
    assert share.call is not None
    function = can_be_asked(made, obj, share.call)
    assert function is not None
    assert function.name == "batches"


@pytest.mark.parametrize(
    ("parameters", "arguments", "body"),
    [
        ("data, **more", "train_set", BATCHES),
        ("data", "**{'data': train_set}", BATCHES),
        ("data", "train_set", BATCHES.replace("    loader = ", "    loader = kept = ")),
        ("data", "train_set", BATCHES.replace("def batches", "@same\ndef batches")),
    ],
)
def test_what_one_that_can_carry_no_more_argument_gives_is_split(parameters, arguments, body):
    made = planned(parameters, arguments, "def same(f):\n    return f\n", body)
    assert [share.how for share in made.sharding.shares.values()] == ["split"]


@pytest.mark.parametrize(
    ("parameters", "end"),
    [("", None), ("a", "a"), ("a, b=1", "1"), ("a, *, c=2", "2"), ("*rest", "rest"), ("a, *, c", "c")],
)
def test_where_the_list_of_parameters_ends(parameters, end):
    function = ast.parse(f"def f({parameters}): pass").body[0]
    assert isinstance(function, ast.FunctionDef)
    found = end_of_parameters(function)
    assert (ast.unparse(found) if found is not None else None) == end
