"""What there is when a loop begins."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis.state.loop_entry import Start, own_names, start_of
from tests.analysis.cells import BEFORE, TRAINING, plan

INNER = "".join(f"        {line}\n" for line in TRAINING.strip().split("\n"))
TRAINER = (
    "class Inner:\n    def __init__(self):\n        self.best = 1\n\n"
    "class Trainer:\n    rate = 1\n\n    def __init__(self):\n        self.inner = Inner()\n        self.count = 0\n\n"
    "    def fit(self, epochs=3):\n        before = 1\n" + INNER + "\ntrainer = Trainer()\n"
)


def start(*cells: str) -> Start:
    made = plan(*BEFORE, *cells)
    (loop,) = made.roles.epoch_loops
    return start_of(made, loop)


@pytest.mark.parametrize(
    ("name", "there"),
    [("before", True), ("epochs", True), ("loss", False), ("model", True), ("later", False), ("nowhere", False)],
)
def test_names_that_may_have_a_value(name, there):
    found = start(TRAINER, "trainer.fit()\nlater = 3")
    assert found.may_have(name) is there


def test_expressions_for_things_and_their_attributes():
    found = start(TRAINER, "trainer.fit()")
    assert {"self", "self.inner"} <= set(found.texts.values())
    by_text = {text: thing for thing, text in found.texts.items()}
    assert found.has(by_text["self"], "count")
    assert found.has(by_text["self"], "rate")
    assert found.has(by_text["self.inner"], "best")
    assert not found.has(by_text["self"], "later")


def test_a_thing_that_may_be_none_is_kept_apart():
    found = start("class A:\n    pass\n\na = A() if input() else None\nb = A()", TRAINING + "    print(a, b)\n")
    assert {found.texts[o] for o in found.perhaps} == {"a"}


def test_at_the_top_level_what_stands_above_is_bound():
    found = start("above = 1", TRAINING + "    print(above)\nbelow = 2\n")
    assert "above" in found.bound
    assert "below" not in found.bound


def test_names_of_a_function():
    function = ast.parse("def f(a, *b, c=1):\n    global g\n    g = 1\n    d = 2\n    return e").body[0]
    assert isinstance(function, ast.FunctionDef)
    assert own_names(function) == {"a", "b", "c", "d"}
