"""Steps written out by hand: what is missed here is a training that is not found."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis.training.manual_steps import gradients_kept, gradients_taken, steps_by_hand
from tests.analysis.cells import program


@pytest.mark.parametrize(
    "line",
    [
        "w -= 0.1 * w.grad",
        "w.data = w.data - 0.1 * w.grad",
        "w.data.add_(w.grad, alpha=-0.1)",
        "g = w.grad",
        "w.data.sub_(0.1 * w.grad)",
        "x = x - w.grad.norm() * w.grad",
    ],
)
def test_steps(line):
    assert steps_by_hand(program(f"for k in range(3):\n    {line}"))


@pytest.mark.parametrize(
    "line",
    [
        "n = w.grad.norm()",
        "print(w.grad)",
        "if w.grad is None: pass",
        "w.grad.zero_()",
        "w.grad = None",
        "n = f'{w.grad}'",
        "assert w.grad",
    ],
)
def test_what_only_looks_is_none(line):
    assert not steps_by_hand(program(f"for k in range(3):\n    {line}"))


def test_gradients_that_are_taken_by_a_call():
    made = program("import torch\ng = torch.autograd.grad(loss, w)\nh = w.grad")
    assert [ast.unparse(n) for n in gradients_taken(made)] == ["torch.autograd.grad"]
    assert gradients_taken(program("h = w.grad")) == frozenset()


def test_a_gradient_that_is_returned_may_be_taken_for_anything():
    assert len(gradients_taken(program("def slope(f, x):\n    f(x).backward()\n    return x.grad"))) == 1


@pytest.mark.parametrize(
    ("line", "stays"),
    [
        ("adversarial = x + 0.1 * x.grad.sign()", True),
        ("return 0.1 * x.grad.sign()", True),
        ("x = x + 0.1 * x.grad.sign()", False),
        ("x.data = (x + 0.1 * x.grad).clamp(0, 1)", False),
        ("new = w - 0.1 * w.grad", False),
        ("w += 0.1 * w.grad", False),
        ("g = w.grad", False),
    ],
)
def test_a_gradient_that_goes_into_another_thing(line, stays):
    assert bool(gradients_kept(program(f"def f(x, w):\n    {line}"))) is stays
