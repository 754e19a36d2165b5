"""What a gradient cannot change."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis.slicing.gradients import gives, may_learn, wants

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


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("loss.backward()", "gives"),
        ("optimizer.step()", "wants"),
        ("w.data -= 0.1 * w.grad", "wants"),
        ("for p in ps:\n    p.data -= 0.1 * p.grad\n    p.grad.zero_()", "wants"),
        ("optimizer.zero_grad()", ""),
        ("w.grad = None", ""),
        ("print(w.grad)", ""),
        ("for x in xs:\n    model(x).backward()\n    optimizer.step()", ""),
    ],
)
def test_who_gives_and_wants_gradients(text, found):
    (node,) = ast.parse(text).body
    assert " ".join(check.__name__ for check in (gives, wants) if check(node)) == found
