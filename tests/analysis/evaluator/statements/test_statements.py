"""Statements in their order: branches side by side, contexts, and what ends a block."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis.values import Extent
from tests.analysis.cells import BEFORE, TRAINING, batch, node, plan, seen

M, U, V = Extent.MEAN, Extent.UNIFORM, Extent.VARYING


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["if epoch:", "    n = loss.item()", "else:", "    n = 0.0"], M),
        (["n = loss.item()", "if epoch:", "    n = 0.0"], M),
        (["n = loss.item()", "if True:", "    n = 0.0"], U),
        (["n = 0.0", "if False:", "    n = loss.item()"], U),
        (["if x.max() > 1:", "    n = 1", "else:", "    n = 2"], V),
        (["try:", "    n = loss.item()", "except ValueError:", "    n = 0.0"], M),
        (["try:", "    n = 0.0", "except ValueError as e:", "    n = loss.item()"], M),
        (["try:", "    n = loss.item()", "finally:", "    n = 0.0"], U),
        (["with torch.no_grad():", "    n = loss.item()"], M),
        (["match epoch:", "    case 1:", "        n = loss.item()", "    case _:", "        n = 0.0"], M),
        (["match x.max().item():", "    case 1:", "        n = 1", "    case _:", "        n = 2"], V),
        (["n = loss.item()", "if epoch:", "    n = 0.0", "    continue"], M),
        (["n = 0.0", "if epoch:", "    n = loss.item()", "    raise ValueError"], U),
    ],
)
def test_what_a_name_is_after_it(lines, expected):
    assert seen("(n)"[1:-1], *lines, "m = (n)", before="n = 0.0") is expected


@pytest.mark.parametrize(
    ("header", "grad"),
    [
        ("with torch.no_grad():", False),
        ("with torch.inference_mode():", False),
        ("with torch.set_grad_enabled(False):", False),
        ("with torch.set_grad_enabled(True):", True),
        ("with torch.set_grad_enabled(epoch > 1):", True),
        ("with torch.autocast('cpu'):", True),
        ("if epoch:", True),
    ],
)
def test_gradients_are_off_where_the_notebook_turns_them_off(header, grad):
    made = plan(*BEFORE, batch(header, "    n = model(x + 1)", "m = model(x + 2)"))
    assert made.facts.calls[node(made, ast.Call, "model(x + 1)")].grad is grad
    assert made.facts.calls[node(made, ast.Call, "model(x + 2)")].grad


def test_what_stands_after_the_end_of_a_block_is_not_run():
    before = "def of(v):\n    return 0\n    return v\n"
    assert seen("of(loss.item())", "n = of(loss.item())", before=before) is U


def test_conditions_are_noted_with_the_loops_around():
    made = plan(*BEFORE, batch("if loss.item() < 1:", "    n = 1"))
    fact = made.facts.tests[node(made, ast.Compare, "loss.item() < 1")]
    assert len(fact.loops) == 2
    assert not fact.alone


def test_a_condition_under_one_that_ranks_decide_apart_is_asked_alone():
    made = plan(*BEFORE, batch("if x.max() > 1:", "    if loss.item() < 1:", "        n = 1"))
    assert made.facts.tests[node(made, ast.Compare, "loss.item() < 1")].alone


def test_assertions_and_deletions_are_looked_at():
    made = plan(*BEFORE, TRAINING.replace("loss.backward()", "assert torch.isfinite(loss)\n        loss.backward()"))
    assert made.facts.calls[node(made, ast.Call, "torch.isfinite(loss)")].names == {"torch.isfinite"}
