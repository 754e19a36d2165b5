"""What names, fields and items stand for after they were bound."""

from __future__ import annotations

import ast
import operator
from functools import reduce

import pytest

from nbddp.analysis.values import Extent, Value
from tests.analysis.cells import BEFORE, batch, node, plan, seen
from tests.analysis.values.simulated import World


@pytest.mark.parametrize(
    ("line", "source", "expected"),
    [
        ("a, b = loss.item(), len(x)", "(a)", Extent.MEAN),
        ("a, b = loss.item(), len(x)", "(b)", Extent.SUM),
        ("a, *b = loss.item(), len(x), 3", "(a)", Extent.VARYING),  # not known part by part
        ("(a, b), c = (loss.item(), 1), len(x)", "(b)", Extent.UNIFORM),
        ("a, b = x.shape", "(a)", Extent.SUM),
        ("a, b = x.shape", "(b)", Extent.UNIFORM),
        ("a: float = loss.item()", "(a)", Extent.MEAN),
        ("a = b = loss.item()", "(a)", Extent.MEAN),
        ("[a, b] = [1, 2]", "(a)", Extent.UNIFORM),
    ],
)
def test_targets_get_their_parts(line, source, expected):
    assert seen(source[1:-1], line, f"n = {source}") is expected


@pytest.mark.parametrize("statement", ["total += {}", "total = total + {}"])
@pytest.mark.parametrize(
    ("start", "operand", "expected"),
    [
        ("0.0", "loss.item()", Extent.MEAN),
        ("0", "len(x)", Extent.SUM),
        ("0", "(model(x).argmax(1) == y).sum().item()", Extent.SUM),
        ("0", "1", Extent.UNIFORM),
        ("0", "model(x).max().item()", Extent.VARYING),
        ("3", "len(x)", Extent.VARYING),  # on each rank; of one process it is there once
    ],
)
def test_what_is_added_up(statement, start, operand, expected):
    lines = (statement.format(operand), "n = (total)")
    assert seen("total", *lines, before=f"total = {start}") is expected


def test_a_sum_that_begins_anew_in_each_step_with_a_number_is_no_sum():
    lines = ("penalty = 0.1", "penalty += (x ** 2).sum()", "n = (penalty)")
    assert seen("penalty", *lines) is Extent.VARYING


def test_what_a_condition_of_one_rank_counts_adds_up_to_no_sum():
    lines = ("if x.max() > 2:", "    seen += 1", "n = (seen)")
    assert seen("seen", *lines, before="seen = 0") is Extent.VARYING


def test_what_is_counted_for_each_sample_adds_up():
    lines = ("for t, p in zip(y, model(x)):", "    if t == p:", "        right += 1", "n = (right)")
    assert seen("right", *lines, before="right = 0") is Extent.SUM


def test_a_list_that_is_added_to_holds_what_was_in_the_other():
    lines = ("log += [loss.item()]", "n = log[0]")
    assert seen("log[0]", *lines, before="log = []") is Extent.MEAN


def test_what_samples_choose_to_write_into_an_array_is_the_ranks_own():
    assert seen("counts", "counts[y] = 1.0 * loss.item()", "n = counts", before="counts = torch.zeros(2)") is (
        Extent.VARYING
    )


def test_what_is_written_at_the_same_place_on_all_ranks_is_what_it_was():
    assert seen("kept", "kept[epoch] = loss.item()", "n = kept", before="kept = torch.zeros(3)") is Extent.MEAN


def test_zeros_are_none_once_a_part_of_them_is_set():
    assert zeros("a = torch.zeros(3)").const == 0
    assert zeros("a = torch.zeros(3)\na[0] = 5").const is None


def zeros(cell: str) -> Value:
    made = plan(*BEFORE, cell, batch("n = a"))
    return made.facts.value(node(made, ast.Name, "a"))


def test_a_deleted_name_stands_for_nothing():
    assert seen("a", "a = loss.item()", "del a", "a = 1", "n = a") is Extent.UNIFORM


STEPS = {  # what two ranks have in two steps, and what one process has
    "loss.item()": ([(1.5, 2.5), (4.0, 0.5)], (2.0, 2.25)),
    "(y > 0).sum().item()": ([(1, 2), (5, 3)], (3, 8)),
    "len(x)": ([(3, 3), (3, 3)], (6, 6)),
    "(epoch + 2)": ([(2, 2), (3, 3)], (2, 3)),
}
IN_PLACE = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv,
            "%": operator.mod, "**": operator.pow}  # fmt: skip


@pytest.mark.parametrize("start", [0.0, 2.0])
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("op", IN_PLACE)
def test_what_is_changed_in_place_is_what_its_extent_claims(op, step, start):
    found = seen("total", f"total {op}= {step}", "n = (total)", before=f"total = {start}")
    ranks, whole = STEPS[step]
    left = tuple(reduce(IN_PLACE[op], numbers, start) for numbers in zip(*ranks, strict=True))
    assert World((3, 3)).holds(Value(extent=found), left, reduce(IN_PLACE[op], whole, start))
