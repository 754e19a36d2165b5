"""Loops over the samples of a batch: what a turn holds, and what is left after them."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis.values import ONE, PLACED, Extent, Value, spread
from tests.analysis.cells import BEFORE, batch, node, plan


def value(read: str, *lines: str) -> Value:
    made = plan(*BEFORE, batch(*lines, f"shown = {read}"))
    return made.facts.value(node(made, ast.Assign, f"shown = {read}").value)


def within(header: str, read: str) -> Value:
    made = plan(*BEFORE, batch(f"for {header}:", f"    shown = {read}"))
    return made.facts.value(node(made, ast.Assign, f"shown = {read}").value)


@pytest.mark.parametrize(
    ("header", "read"),
    [
        ("one in x", "one"),
        ("one, label in zip(x, y)", "label"),
        ("i, one in enumerate(x)", "one"),
        ("one in model(x)", "one"),
    ],
)
def test_a_turn_over_a_batch_holds_one_sample(header: str, read: str) -> None:
    assert within(header, read).of(ONE)


@pytest.mark.parametrize(
    ("header", "read"),
    [
        ("part in x.split(2)", "part"),  # several samples
        ("part in [x, y]", "part"),  # whole batches
        ("part in (x, x * 2)", "part"),
        ("i in range(3)", "x"),
    ],
)
def test_a_turn_over_anything_else_does_not(header: str, read: str) -> None:
    assert not within(header, read).of(ONE)


def test_what_may_be_a_pair_of_tensors_is_not_gone_through_by_sample() -> None:
    """As a loader gives it; unless it is moved to a device first, as only a tensor is."""
    lines = ["for pair in test_loader:", "    for part in pair:", "        shown = part"]
    made = plan(*BEFORE, batch(*lines))
    assert not made.facts.value(node(made, ast.Assign, "shown = part").value).of(ONE)


def test_neighbours_side_by_side_are_told_by_their_place() -> None:
    found = within("one, other in zip(x, x[1:])", "one")
    assert not found.of(ONE)
    assert found.of(PLACED)


def test_after_the_loop_the_last_sample_is_left() -> None:
    found = value("one", "for one in x:", "    pass")
    assert not found.of(ONE)
    assert found.of(PLACED)


def test_after_the_loop_a_number_of_the_last_sample_is_the_ranks_own() -> None:
    found = value("most", "for one in x:", "    most = one.max().item()")
    assert spread(found) is Extent.VARYING
