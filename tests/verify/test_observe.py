"""Facts that no right script leaves in its records."""

from __future__ import annotations

from typing import Any

import pytest

from nbddp.verify.observe import defects, ranks_apart, repeated, same_samples, seeded_apart, uneven
from nbddp.verify.trace import Step, Trace

Shares = tuple[tuple[int, ...], ...]


def step(number: int, shares: Shares, *, loss: float = 1.0, **ranks: Any) -> Step:
    """`ranks` has a list for each field of the ranks' own records."""
    fields = {"lr": [[0.1]] * len(shares), "length": [None] * len(shares), "started": ["a"] * len(shares),
              "weights": [{"0:w": [1.0]}] * len(shares), "passed": [None] * len(shares), **ranks}  # fmt: skip
    records = tuple({name: values[rank] for name, values in fields.items()} for rank in range(len(shares)))
    return Step(number, 0, "SGD", loss, (0.1,), 1.0, {"0:w": (1.0,)}, (shares,), records)


def trace(*steps: Step, taken: tuple[int, ...] | None = None) -> Trace:
    return Trace(steps, taken or (len(steps),) * len(steps[0].ranks), ())


ONE = trace(step(1, ((0, 1, 2, 3),)), step(2, ((4, 5, 6, 7),)))
RIGHT = trace(step(1, ((0, 2), (1, 3))), step(2, ((4, 6), (5, 7))))


def found(many: Trace, one: Trace = ONE) -> list[str]:
    return [cause.name for cause in defects(one, many)]


def test_a_right_script_has_none():
    assert found(RIGHT) == []
    assert same_samples(ONE, RIGHT)
    assert not uneven(ONE, RIGHT)
    assert ranks_apart(RIGHT) is None
    assert seeded_apart(RIGHT) is None


@pytest.mark.parametrize(
    ("many", "names"),
    [
        (trace(step(1, ((0, 1, 2, 3), (4, 5, 6, 7)))), ["batch"]),
        (trace(step(1, ((0, 1), (0, 1)))), ["samples"]),
        (trace(step(1, ((0, 2), (1, 3))), taken=(1, 2)), ["steps"]),
        (trace(step(1, ((0, 2), (1, 3)), lr=[[0.1], [0.2]])), ["scheduler"]),
        (trace(step(1, ((0, 2), (1, 3)), loss=0.5)), ["sum"]),
    ],
)
def test_defects(many, names):
    assert found(many) == names


def test_an_epoch_of_another_length():
    one = trace(step(1, ((0, 1),), length=[10]))
    assert found(trace(step(1, ((0,), (1,)), length=[20, 20])), one) == ["samples"]
    assert found(trace(step(1, ((0,), (1,)), length=[10, 10])), one) == []


def test_passes_in_one_order():
    def passes(*epochs: int) -> Trace:
        made = [step(n, ((n,),), passed=[[n, 100, 0, epoch]]) for n, epoch in enumerate(epochs)]
        return trace(*made)

    assert repeated(passes(0, 0)) == ["100"]
    assert repeated(passes(0, 1, 0)) == []


def test_a_last_batch_that_is_filled_up():
    filled = trace(step(1, ((0, 2), (1, 0))))
    one = trace(step(1, ((0, 1, 2),)))
    assert uneven(one, filled)
    assert same_samples(one, filled)
    assert found(filled, one) == []
    assert not same_samples(one, trace(step(1, ((0, 2), (1, 9)))))


def test_ranks_that_hold_other_weights_or_seeds():
    apart = step(2, ((0, 2), (1, 3)), weights=[{"0:w": [1.0]}, {"0:w": [1.1]}], started=["a", "b"])
    assert ranks_apart(trace(RIGHT.steps[0], apart)) is apart
    assert seeded_apart(trace(apart)) is not None


def test_a_batch_size_that_is_rounded_down():
    one = trace(step(1, ((0, 1, 2, 3),), length=[6]))
    many = trace(step(1, ((0,), (1,), (2,)), length=[7, 7, 7]))
    assert found(many, one) == ["rounding"]
