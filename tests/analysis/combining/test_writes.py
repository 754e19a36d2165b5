"""Who puts what where."""

from __future__ import annotations

import ast
from typing import Any

import pytest

from nbddp.analysis.combining.writes import fillings, handed_on, is_place, read_by_called, uses, write_of
from tests.analysis.cells import BEFORE, batch, plan, program

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
    return handed_on(made.facts, loop)


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
    assert read_by_called(made.facts, loop, "total") is read


def test_a_function_that_is_called_elsewhere_does_not_count():
    made: Any = plan(*BEFORE, "total = 0.0\n\ndef show():\n    return total\n", "show()", batch("total += loss.item()"))
    (loop,) = (f.node for f in made.roles.batch_loops)
    assert not read_by_called(made.facts, loop, "total")


def statement(line: str) -> ast.stmt:
    return ast.parse(line).body[0]


@pytest.mark.parametrize(
    ("line", "place", "taken"),
    [
        ("total *= n", "total", ["n"]),
        ("total = total * n", "total", ["total * n"]),
        ("table[row] = n", "table", ["row", "n"]),
        ("table.loc[row] = n", "table", ["row", "n"]),
        ("log.append(n)", "log", ["n"]),
        ("history['a']['b'].extend(n)", "history", ["'b'", "'a'", "n"]),
        ("self.log.append(n)", "self.log", ["n"]),
        ("self.log[k].append(n)", "self.log", ["k", "n"]),
    ],
)
def test_what_a_statement_writes(line, place, taken):
    write = write_of(statement(line))
    assert write is not None
    assert write.keeps
    assert ast.unparse(write.place) == place
    assert sorted(map(ast.unparse, write.taken)) == sorted(taken)


def test_what_is_set_anew_keeps_nothing():
    write = write_of(statement("last = n"))
    assert write is not None
    assert not write.keeps


@pytest.mark.parametrize(
    "line", ["a = b = n", "a, b = n", "log.append(x=n)", "log().append(n)", "a[0][1] = n", "log.pop()"]
)
def test_what_is_no_write_to_one_place(line):
    assert write_of(statement(line)) is None


def test_places_are_known_by_their_text():
    own = ast.parse("self.log", mode="eval").body
    assert is_place(own, "self.log")
    assert not is_place(own, "log")
    assert is_place(ast.parse("log", mode="eval").body, "log")


def test_the_uses_of_a_name():
    made = program("row = {}\nrow['a'] = 1\nother[row] = 2\nprint(row)")
    found = uses(made, ast.walk(made.tree), "row")
    assert ast.unparse(found.made or ast.Pass()) == "{}"
    assert [ast.unparse(value) for value in found.put] == ["1"]
    assert sorted(name.lineno for name in found.read) == [3, 4]


def test_a_container_is_filled_by_whatever_name():
    lines = ["add(1)", "other['a'] = 1", "log.copy()", "print(log)", "del log['a']"]
    made = plan(*BEFORE, "log = {}\nother = log\nadd = log.update", batch(*lines))
    (things,) = {value.objs for node, value in made.facts.values.items() if ast.unparse(node) == "log"}
    assert sorted(map(ast.unparse, fillings(made.facts, things))) == ["add(1)", "log['a']", "other['a']"]
