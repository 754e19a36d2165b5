"""How losses add up over samples and ranks."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis.values import Extent, Value, backward_of, reduced

SAMPLES, MEAN, SUM, VARYING = (Value(extent=e) for e in (Extent.SAMPLES, Extent.MEAN, Extent.SUM, Extent.VARYING))


@pytest.mark.parametrize(
    ("keywords", "found"),
    [
        ({}, Extent.MEAN),
        ({"reduction": "mean"}, Extent.MEAN),
        ({"reduction": "batchmean"}, Extent.MEAN),
        ({"reduction": "sum"}, Extent.SUM),
        ({"reduction": "none"}, Extent.SAMPLES),
        ({"reduction": "own"}, Extent.VARYING),
        ({"size_average": False}, Extent.SUM),
        ({"size_average": True}, Extent.MEAN),
        ({"reduce": False}, Extent.SAMPLES),
    ],
)
def test_the_reduction_says_how(keywords, found):
    assert reduced([SAMPLES, SAMPLES], {k: Value(const=v) for k, v in keywords.items()}) is found


def test_a_reduction_that_is_not_known_is_not_guessed():
    assert reduced([SAMPLES], {"reduction": Value()}) is Extent.VARYING


@pytest.mark.parametrize(
    ("weight", "found"),
    [(Value(), Extent.MEAN), (SAMPLES, Extent.MEAN), (SUM, Extent.VARYING), (VARYING, Extent.VARYING)],
)
def test_weights_that_a_rank_has_counted_make_another_mean(weight, found):
    assert reduced([SAMPLES], {"weight": weight}) is found
    assert reduced([SAMPLES], {"pos_weight": weight}) is found


def test_of_numbers_that_are_the_same_on_all_ranks_it_is_the_same():
    assert reduced([Value(), Value()], {"reduction": Value(const="sum")}) is Extent.UNIFORM
    assert reduced([Value(extent=Extent.REPEATED)], {}) is Extent.REPEATED


@pytest.mark.parametrize(
    ("text", "loss"),
    [
        ("loss.backward()", "loss"),
        ("scaler.scale(loss).backward()", "scaler.scale(loss)"),
        ("torch.autograd.backward(loss)", "loss"),
        ("backward(loss)", "loss"),
        ("backward()", None),
    ],
)
def test_what_a_call_differentiates(text, loss):
    call = ast.parse(text, mode="eval").body
    assert isinstance(call, ast.Call)
    found = backward_of(call)
    assert (ast.unparse(found) if found is not None else None) == loss
