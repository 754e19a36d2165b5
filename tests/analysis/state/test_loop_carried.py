"""What a checkpoint has to hold besides the states: what is forgotten there is wrong after a resume."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis.state import Carried, carried
from tests.analysis.cells import BEFORE, batch, evaluation, plan

NAMES = """
import copy
best, patience, history, table = 9.0, 0, [], {"a": []}

class Stopper:
    def __init__(self):
        self.best = 9.0

    def tell(self, loss):
        self.best = min(self.best, loss)

stopper = Stopper()
"""


def of(*lines: str, inside: str = "n += len(x)") -> Carried:
    made = plan(*BEFORE, NAMES, evaluation("n = 0", inside, "\n".join(lines)))
    (loop,) = made.roles.epoch_loops
    return carried(made, loop)


@pytest.mark.parametrize(
    ("lines", "values"),
    [
        (["if n > best:\n    best = n"], ("best",)),
        (["patience += 1"], ("patience",)),
        (["history.append(n)"], ("history",)),
        (["table['a'].append(n)"], ("table",)),
        (["best = min(best, n)", "patience = 0 if n else patience + 1"], ("best", "patience")),
        (["stopper.tell(n)"], ("stopper.best",)),
        (["if epoch == 0:\n    best = n", "print(best)"], ("best",)),
    ],
)
def test_what_goes_on_from_the_turn_before(lines, values):
    assert of(*lines).values == values


@pytest.mark.parametrize(
    "lines", [["print(n)"], ["best = n", "print(best)"], ["print(best)"], ["kept = [n]", "kept.append(1)"]]
)
def test_what_each_turn_sets_or_only_reads_is_not(lines):
    found = of(*lines)
    assert (found.values, found.things, found.lost) == ((), (), ())


def test_numbers_of_one_rank_are_not_held():
    made = plan(*BEFORE, "last = 0.0", batch("last = last * 0.5 + x.max().item()") + "    print(last)\n")
    (loop,) = made.roles.epoch_loops
    found = carried(made, loop)
    assert (found.values, found.lost) == ((), ("last",))


def test_a_loop_that_is_none_over_epochs_carries_nothing():
    made = plan(*BEFORE, "last = 0.0", batch("last = max([last + v for v in (1, 2)])"))
    (loop,) = (f for f in made.facts.loops.values() if isinstance(f.node, ast.comprehension))
    assert carried(made, loop) == Carried()


def test_what_only_some_turns_set_for_later_goes_on_too():
    cell = evaluation("n = 0", "n += len(x)", "if epoch == 0:\n    best = n")
    made = plan(*BEFORE, NAMES, cell + "print(best)\n")
    (loop,) = made.roles.epoch_loops
    assert carried(made, loop).values == ("best",)
