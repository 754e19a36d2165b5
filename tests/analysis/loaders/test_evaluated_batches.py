"""Which code is about the batches of an evaluation, which are as large as in one process."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis import Plan
from nbddp.analysis.loaders.evaluated_batches import in_evaluation, made_for_all, made_for_evaluation, sizes_evaluation
from tests.analysis.cells import BEFORE, evaluation, node, plan


def made(before: str = "hidden = torch.zeros(10, 2)", inside: str = "n += (model(x) + hidden).sum().item()") -> Plan:
    return plan(
        *BEFORE,
        evaluation(f"n = 0\n    {before}", inside, "print(n)").replace(
            "loss.backward()", "used = 10\n        loss.backward()"
        ),
    )


def number(of: Plan, source: str) -> ast.AST:
    """The number 10 in this statement."""
    call = node(of, ast.Call, source)
    return next(n for n in ast.walk(call) if isinstance(n, ast.Constant) and n.value == 10)


def test_a_state_that_an_evaluation_reads_is_made_for_it():
    found = made()
    assert made_for_evaluation(found, number(found, "torch.zeros(10, 2)"))
    assert not in_evaluation(found, number(found, "torch.zeros(10, 2)"))


def test_one_that_it_does_not_read_is_not():
    found = made(inside="n += model(x).sum().item()")
    assert not made_for_evaluation(found, number(found, "torch.zeros(10, 2)"))


def test_what_was_bound_anew_in_between_is_not_read():
    found = made(before="hidden = torch.zeros(10, 2)\n    hidden = torch.zeros(1, 2)")
    assert not made_for_evaluation(found, number(found, "torch.zeros(10, 2)"))


def test_what_stands_in_the_loop_is_in_the_evaluation():
    found = made(inside="n += (model(x) + torch.ones(10, 2)).sum().item()")
    assert in_evaluation(found, number(found, "torch.ones(10, 2)"))


def test_what_stands_in_the_training_is_not():
    found = made()
    place = next(n for n in ast.walk(found.program.tree) if isinstance(n, ast.Assign) and ast.unparse(n) == "used = 10")
    assert not in_evaluation(found, place.value)
    assert not made_for_evaluation(found, place.value)


@pytest.mark.parametrize(("loader", "for_all"), [("train_loader", True), ("test_loader", False)])
def test_on_the_loader_of_the_training_an_evaluation_draws_whole_batches(loader, for_all):
    cell = evaluation("n = 0\n    hidden = torch.zeros(10, 2)", "n += (model(x) + hidden).sum().item()", "print(n)")
    found = plan(*BEFORE, cell.replace("test_loader", loader))
    place = number(found, "torch.zeros(10, 2)")
    assert made_for_all(found, place) is for_all
    assert sizes_evaluation(found, [], [place]) is not for_all
