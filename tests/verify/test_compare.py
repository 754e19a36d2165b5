from __future__ import annotations

import math
from collections.abc import Sequence

import pytest

from nbddp.verify.compare import alike, compare, unsteady_lines
from nbddp.verify.trace import Step, Trace


def trace(losses: Sequence[float], lines: Sequence[str] = (), weight: float = 1.0, lr: float = 0.1) -> Trace:
    steps = tuple(
        Step(number, 0, "SGD", loss, (lr,), 1.0, {"0:w": (weight, 0.0)}, (), ())
        for number, loss in enumerate(losses, 1)
    )
    return Trace(steps, (len(steps),), tuple(lines))


def test_rounding_is_no_difference():
    found = compare(trace([2.0, 1.0]), trace([2.0000001, 1.0000001]))
    assert found.agree
    assert 0 < found.apart < 1e-6


@pytest.mark.parametrize("other", [trace([2.0, 1.1]), trace([2.0, 1.0], weight=1.1), trace([2.0, 1.0], lr=0.2)])
def test_a_loss_a_weight_or_a_rate_is(other):
    assert not compare(trace([2.0, 1.0]), other).steps_agree


def test_a_loss_near_zero_is_measured_against_the_curve():
    assert compare(trace([2.0, 1e-9]), trace([2.0, 3e-9])).agree


def test_what_is_no_number_differs_from_all_but_itself():
    assert compare(trace([math.nan]), trace([math.nan])).agree
    assert compare(trace([1.0]), trace([math.nan])).apart == math.inf
    assert compare(trace([1.0]), trace([1.0], weight=math.nan)).apart == math.inf


def test_steps_of_one_side_only_are_a_difference():
    found = compare(trace([2.0, 1.0]), trace([2.0]))
    assert found.missing == 1
    assert not found.steps_agree


def test_printed_numbers_are_compared_but_for_their_last_digit():
    one = trace([1.0], ["epoch 0 loss 0.123", "accuracy 21/30"])
    assert compare(one, trace([1.0], ["epoch 0 loss 0.124", "accuracy 21/30"])).agree
    found = compare(one, trace([1.0], ["epoch 0 loss 0.123", "accuracy 11/30"]))
    assert found.steps_agree
    assert found.printed == (("accuracy 21/30", "accuracy 11/30"),)


def test_lines_that_differ_between_two_runs_of_one_process_do_not_count():
    one, again = trace([1.0], ["took 3 s", "loss 1"]), trace([1.0], ["took 4 s", "loss 1"])
    unsteady = unsteady_lines(one, again)
    assert unsteady == {0}
    assert compare(one, trace([1.0], ["took 9 s", "loss 1"]), unsteady).agree


def test_a_line_that_only_one_has_printed_proves_nothing():
    assert compare(trace([1.0], ["3 files", "loss 1"]), trace([1.0], ["loss 1"])).agree


def test_alike_is_the_same_course_and_not_the_same_digits():
    falling = [2.0, 1.8, 1.5, 1.4, 1.2, 1.1]
    other = [2.1, 1.7, 1.6, 1.3, 1.25, 1.05]
    assert alike(compare(trace(falling), trace(other)))
    assert not alike(compare(trace(falling), trace([loss + 3 for loss in falling])))
    assert not alike(compare(trace(falling), trace([2.0, *[math.nan] * 5])))
