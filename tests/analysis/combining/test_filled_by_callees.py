"""Containers that functions of the notebook fill for the loop that calls them."""

from __future__ import annotations

import ast
from typing import Any

import pytest

from nbddp.analysis.combining.filled_by_callees import handed_on, read_by_called
from tests.analysis.cells import BEFORE, batch, plan

SCORE = """
def score(loss, log, total=None):
    log.append(loss.item())
    if total is not None:
        total["n"] += 1
    return len(log)
"""


def ways(line: str, before: str = SCORE) -> dict[str, set[str]]:
    made: Any = plan(*BEFORE, before, "losses = []\nsums = {'n': 0}", batch(line))
    (loop,) = (f.node for f in made.roles.batch_loops)
    return handed_on(made, loop)


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("score(loss, losses)", {"losses": {"append"}, "sums": set()}),
        ("score(loss, losses, sums)", {"losses": {"append"}, "sums": {"item"}}),
        ("score(loss, total=sums, log=losses)", {"losses": {"append"}, "sums": {"item"}}),
        ("score(loss, losses[:])", {}),
        ("print(losses)", {}),
    ],
)
def test_how_what_is_handed_on_is_changed(line, found):
    assert ways(line) == {name: how for name, how in found.items() if how}


def test_the_first_parameter_of_a_method_is_the_object_itself():
    before = "class Log:\n    def keep(self, loss, log):\n        log.append(loss)\n\nkeeper = Log()\n"
    assert ways("keeper.keep(loss.item(), losses)", before) == {"losses": {"append"}}


def test_a_function_that_only_looks_changes_nothing():
    assert ways("show(losses)", "def show(log):\n    return len(log)\n") == {}


@pytest.mark.parametrize(
    ("function", "read"),
    [
        ("def show():\n    return total * 2\n", True),
        ("def show(total=0):\n    return total * 2\n", False),
        ("def show():\n    total = 0\n    return total * 2\n", False),
        ("def show():\n    return 2\n", False),
    ],
)
def test_whether_a_function_that_the_loop_calls_reads_a_name(function, read):
    made: Any = plan(*BEFORE, "total = 0.0", function, batch("total += loss.item()", "n = show()"))
    (loop,) = (f.node for f in made.roles.batch_loops)
    assert isinstance(loop, ast.For)
    assert read_by_called(made, loop, "total") is read


def test_a_function_that_is_called_elsewhere_does_not_count():
    made: Any = plan(*BEFORE, "total = 0.0\n\ndef show():\n    return total\n", "show()", batch("total += loss.item()"))
    (loop,) = (f.node for f in made.roles.batch_loops)
    assert not read_by_called(made, loop, "total")
