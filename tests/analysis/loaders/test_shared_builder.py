"""Functions that build a loader for the training and others for evaluations."""

from __future__ import annotations

import ast

import pytest

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


def asked(parameters: str = "data", arguments: str = "train_set", before: str = "", body: str = BATCHES) -> str | None:
    made = plan(IMPORTS, DATA, before + body.format(parameters=parameters), MODEL, CELL.format(arguments=arguments))
    found = [(share.obj, share.call) for share in made.sharding.shares.values()]
    ((obj, call),) = found
    assert call is not None
    function = can_be_asked(made, obj, call)
    return function.name if function else None


def test_a_generator_of_batches_is_told():
    assert asked() == "batches"


@pytest.mark.parametrize(
    ("parameters", "arguments", "body"),
    [
        ("data, **more", "train_set", BATCHES),
        ("data", "**{'data': train_set}", BATCHES),
        ("data", "train_set", BATCHES.replace("    loader = ", "    loader = kept = ")),
        ("data", "train_set", BATCHES.replace("def batches", "@same\ndef batches")),
    ],
)
def test_one_that_cannot_carry_one_more_argument_is_not(parameters, arguments, body):
    before = "def same(f):\n    return f\n"
    try:
        assert asked(parameters, arguments, before, body) is None
    except ValueError:  # nothing is seen of the loader behind a decorator
        assert "@same" in body


@pytest.mark.parametrize(
    ("parameters", "end"),
    [("", None), ("a", "a"), ("a, b=1", "1"), ("a, *, c=2", "2"), ("*rest", "rest"), ("a, *, c", "c")],
)
def test_where_the_list_of_parameters_ends(parameters, end):
    function = ast.parse(f"def f({parameters}): pass").body[0]
    assert isinstance(function, ast.FunctionDef)
    found = end_of_parameters(function)
    assert (ast.unparse(found) if found is not None else None) == end
