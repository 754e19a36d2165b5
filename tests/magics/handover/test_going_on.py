"""Plain values that a training goes on with, as the kernel has them."""

from __future__ import annotations

import collections
from types import SimpleNamespace

import pytest

from nbddp.analysis.state import passages
from nbddp.magics.handover.going_on import live_values
from tests.analysis.cells import BEFORE, TRAINING, plan

LIVE = {"best": 0.5, "history": collections.deque([1, 2]), "stopper": SimpleNamespace(count=7)}
CLASS = "class Stopper:\n    def __init__(self):\n        self.count = 0\n\nstopper = Stopper()\n"


def values(before: str, line: str, inside: str = ""):
    made = plan(*BEFORE, before, inside + TRAINING + f"    {line}\n")
    (passage,) = passages(made)
    return live_values(made, passage, LIVE)


@pytest.mark.parametrize(
    ("before", "line", "found"),
    [
        ("best = 9.0", "best = min(best, epoch)", {"best": 0.5}),
        ("history = []", "history.append(epoch)", {"history": [1, 2]}),
        (CLASS, "stopper.count += 1", {"stopper.count": 7}),
    ],
)
def test_what_the_loop_goes_on_from(before, line, found):
    assert values(before, line) == found


def test_what_the_kernel_does_not_have_is_left_to_the_cells():
    assert values("other = 9.0", "other = min(other, epoch)") == {}


def test_what_the_training_cell_sets_anew_is_set_anew():
    assert values("pass", "best = min(best, epoch)", inside="best = 9.0\n") == {}


def test_what_the_loop_only_reads_is_none():
    assert values("best = 9.0", "print(best)") == {}
