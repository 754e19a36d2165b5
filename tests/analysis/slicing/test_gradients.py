"""What a gradient cannot change."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis.slicing.gradients import may_learn

IMPORTS = {"nn": "torch.nn", "helpers": "helpers"}


@pytest.mark.parametrize(
    "text",
    ["x = nn.MSELoss()", "x = nn.CrossEntropyLoss().to(device)", "x = nn.ReLU()", "class x(nn.Module):\n    pass"],
)
def test_these_hold_no_parameters(text):
    assert not may_learn("x", ast.parse(text).body[0], IMPORTS)


@pytest.mark.parametrize(
    "text",
    [
        "x = nn.Linear(2, 1)",
        "x = nn.Sequential(nn.ReLU()).to(device)",
        "x = nn.AdaptiveLogSoftmaxWithLoss(8, 100, [10])",
        "x = MyLoss()",
        "x = helpers.Loss()",
        "x, y = nn.MSELoss(), nn.Linear(2, 1)",
        "def x(z):\n    return model(z)",
    ],
)
def test_these_may(text):
    assert may_learn("x", ast.parse(text).body[0], IMPORTS)


def test_what_no_cell_binds_is_a_function_of_python_or_unknown():
    assert not may_learn("len", None, IMPORTS)
    assert may_learn("model", None, IMPORTS)
