"""What a gradient cannot change."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis.slicing.gradients import gives, is_made_in_step, may_learn, moves_data_alone, wants
from nbddp.analysis.syntax import Program, build_program
from nbddp.notebook import notebook_from_percent

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


SAMPLES = """def sample(x):
    @first@
    x = x.clone().requires_grad_()
    model(x).sum().backward()
    x.data += x.grad
    @last@
    return x.detach()
for x in batches:
    @before@
    x = sample(x)
    @behind@
    loss(model(x)).backward()
    optimizer.step()
"""


def program(first: str = "pass", last: str = "pass", before: str = "pass", behind: str = "pass") -> Program:
    places = {"first": first, "last": last, "before": before, "behind": behind}
    text = SAMPLES
    for place, line in places.items():
        text = text.replace(f"@{place}@", line)
    return build_program(notebook_from_percent(text, "x.py"))


def first_backward(made: Program) -> ast.Call:
    calls = [n for n in made.nodes if isinstance(n, ast.Call) and ast.unparse(n.func).endswith("backward")]
    return min(calls, key=lambda call: call.lineno)


@pytest.mark.parametrize(
    "places",
    [
        {"behind": "optimizer.zero_grad()"},
        {"last": "model.zero_grad()"},
        {"first": "for p in model.parameters(): p.requires_grad = False"},
    ],
)
def test_what_such_a_gradient_leaves_in_parameters_is_not_used(places: dict[str, str]) -> None:
    made = program(**places)
    assert moves_data_alone(made, first_backward(made))


@pytest.mark.parametrize(
    "places", [{}, {"before": "optimizer.zero_grad()"}, {"last": "optimizer.step()"}, {"first": "model.zero_grad()"}]
)
def test_or_it_may_be(places: dict[str, str]) -> None:
    made = program(**places)
    assert not moves_data_alone(made, first_backward(made))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("for x in batches:\n    d = zeros.clone().requires_grad_()\n    d.grad", True),
        ("def slope(x):\n    d = torch.zeros(3, requires_grad=True)\n    return d.grad", True),
        ("d = zeros.clone().requires_grad_()\nfor x in batches:\n    d.grad", False),
        ("for x in batches:\n    d = model(x)\n    d.grad", False),
    ],
)
def test_what_a_step_has_made_gets_the_gradient_of_a_share(text: str, found: bool) -> None:
    made = build_program(notebook_from_percent(text, "x.py"))
    (read,) = (n.value for n in made.nodes if isinstance(n, ast.Attribute) and n.attr == "grad")
    assert is_made_in_step(made, read) is found
