"""What one turn of a loop reads, sets and fills, through the functions that it calls."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis.state import turn_of
from nbddp.analysis.state.iteration_effects import Turn
from tests.analysis.cells import BEFORE, batch, plan

NAMES = """
from helpers import Board
best, last, log, table = 9.0, 0.0, [], {"a": []}
board = Board()

class Stopper:
    def __init__(self):
        self.best = 9.0
        self.count = 0

    def tell(self, loss):
        if loss < self.best:
            self.best = loss
        self.count = 0

stopper = Stopper()

def keep(loss):
    global last
    last = loss

def early(loss):
    global last
    if loss > 1:
        return
    last = loss
"""


def turn(*lines: str) -> Turn:
    made = plan(*BEFORE, NAMES, batch(*lines))
    (loop,) = made.roles.epoch_loops
    assert isinstance(loop.node, ast.For)
    return turn_of(made, loop.node.body, None)


def attributes(of: Turn, keys: set[str]) -> set[str]:
    return {of.attributes[key][1] for key in keys if key in of.attributes}


@pytest.mark.parametrize(
    ("lines", "name", "reads", "sets", "surely"),
    [
        (["best = min(best, loss.item())"], "best", True, True, True),
        (["last = loss.item()"], "last", False, True, True),
        (["if epoch:", "    last = loss.item()"], "last", False, True, False),
        (["last += 1"], "last", True, True, True),
        (["print(best)"], "best", True, False, False),
        (["keep(loss.item())"], "last", False, True, True),
        (["early(loss.item())"], "last", False, True, False),
    ],
)
def test_names(lines, name, reads, sets, surely):
    # in the loop over batches, which may not turn at all, nothing is sure
    effects = turn(*lines).effects
    assert (name in effects.reads, name in effects.may_bind) == (reads, sets)
    made = plan(*BEFORE, NAMES, batch(*lines))
    (loop,) = made.roles.batch_loops
    assert isinstance(loop.node, ast.For)
    inner = turn_of(made, loop.node.body, None).effects
    assert (name in inner.binds) is surely


def test_attributes_of_instances_count_as_names():
    found = turn("stopper.tell(loss.item())")
    assert attributes(found, found.effects.may_bind) == {"best", "count"}
    assert attributes(found, found.effects.reads) == {"best", "tell"}


def test_what_is_filled_is_known_by_the_thing():
    assert len(turn("log.append(1)").filled) == 1
    assert len(turn("table['a'].append(1)").filled) == 2
    assert len(turn("table['b'] = 1").filled) == 1
    assert not turn("n = log[0]", "m = table['a']").filled


def test_what_a_module_that_is_not_read_is_told_it_may_remember():
    assert len(turn("board.tell(loss)").told) == 1
    assert len(turn("board.last = epoch").told) == 1
    assert not turn("n = board.size()").told
