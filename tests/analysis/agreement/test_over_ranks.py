"""How a number of all ranks is written, and how much the script's sum has to understand."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis.agreement import KINDS, name_over_ranks, over_ranks
from tests.analysis.cells import BEFORE, TRAINING, batch, evaluation, node, plan


def uses(cell: str) -> set[str]:
    found = plan(*BEFORE, cell)
    return {use for r in found.facts.reductions.values() for use in name_over_ranks(found, r).uses}


@pytest.mark.parametrize(
    ("before", "inside", "after", "kind"),
    [
        ("right = 0", "right += (model(x) > 0).sum().item()", "print(right / 21)", "floats"),
        ("right = 0", "right += (model(x) > 0).sum().item()", "print(f'{right:.2f}')", "floats"),
        ("right = 0", "right += (model(x) > 0).sum().item()", "print(right)", "numbers"),
        ("right = 0", "right += len(y)", "print(right)", "numbers"),
        ("seen = 0", "seen += x.size(0)", "print(seen)", "numbers"),
        ("seen = 0", "seen += y.shape[0]", "print(seen)", "numbers"),
        ("right = 0", "right += (model(x) > 0).sum()", "print(right)", "tensors"),
        ("right = torch.zeros(2)", "right += (model(x) > 0).sum(0)", "print(right)", "anything"),
    ],
)
def test_a_sum_is_as_long_as_it_has_to_be(before, inside, after, kind):
    assert {u for u in uses(evaluation(before, inside, after)) if u.startswith("adds ")} == {f"adds {kind}"}
    assert kind in KINDS


@pytest.mark.parametrize("around", ["enumerate(train_loader)", "zip(range(9), train_loader)"])
def test_what_counts_the_batches_is_a_number(around):
    """`enumerate` gives one; of others it is not known."""
    cell = batch("total += loss.item()", "print(total / (i + 1))")
    cell = cell.replace("    for x, y in train_loader", f"    total = 0.0\n    for i, (x, y) in {around}")
    found = plan(*BEFORE, cell)
    text = over_ranks(found, node(found, ast.BinOp, "total / (i + 1)"), "mean_over_ranks")
    assert ("sum_over_ranks" in text.uses) is around.startswith("enumerate")


def test_the_last_loss_is_a_tensor_of_one_number():
    found = plan(*BEFORE, batch("pass") + "    print(loss.item())\n")
    (reduction,) = found.facts.reductions.values()
    text = name_over_ranks(found, reduction)
    assert text.before + reduction.name + text.after == "sum_over_ranks(loss) / world_size"
    assert "adds tensors" in text.uses


def test_a_mean_is_a_sum_that_is_divided():
    cell = batch("total += loss.item()").replace("    for x, y", "    total = 0.0\n    for x, y") + "    print(total)\n"
    found = plan(*BEFORE, cell)
    (reduction,) = found.facts.reductions.values()
    text = name_over_ranks(found, reduction)
    assert text.before + reduction.name + text.after == "sum_over_ranks(total) / world_size"


def test_in_a_function_the_process_group_is_asked():
    function = (
        "def run():\n    total = 0.0\n"
        + batch("total += loss.item()").replace("for epoch in range(3):\n", "")
        + "    return total"
    )
    found = plan(*BEFORE, function, "for epoch in range(3):\n    print(run())")
    (reduction,) = found.facts.reductions.values()
    assert name_over_ranks(found, reduction).after == ") / dist.get_world_size()"


def test_brackets_where_the_number_is_a_part():
    found = plan(*BEFORE, batch("if 2 * loss.item() > 5:", "    break"))
    number = node(found, ast.expr, "loss.item()")
    text = over_ranks(found, number, "mean_over_ranks")
    assert text.before + text.after == "(sum_over_ranks() / world_size)"


def test_lists_of_numbers_go_together():
    cell = batch("losses.append(loss.item())").replace("    for x, y", "    losses = []\n    for x, y")
    assert "lists of numbers" in uses(cell + "    print(losses)\n")


def test_a_training_without_numbers_adds_nothing():
    assert not uses(TRAINING)
