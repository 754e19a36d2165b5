"""States of several branches put together, and conditions that ranks may decide apart."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis.evaluator import run_block, run_function
from nbddp.analysis.values import (
    Assumptions,
    Extent,
    Machine,
    Steps,
    Value,
    copies,
    decided,
    join_states,
    operands,
    restore,
)
from nbddp.analysis.values.branches import can_be_agreed
from nbddp.analysis.values.contexts import Context
from tests.analysis.cells import BEFORE, batch, plan, program

MEAN, VARYING = Value(extent=Extent.MEAN), Value(extent=Extent.VARYING)


def machine(text: str = "test") -> Machine:
    made = program(text)
    nothing = lambda *_: None  # noqa: E731
    return Machine(made, {}, Steps(run_block, run_function, nothing, nothing, nothing), Assumptions())  # type: ignore[arg-type]


def test_a_state_that_was_put_away_comes_back_as_it_was():
    m = machine()
    m.globals["x"] = Value(const=1)
    saved = copies(m)
    m.globals["x"] = MEAN
    m.globals["y"] = MEAN
    restore(m, saved)
    assert m.globals == {"x": Value(const=1)}
    m.globals["x"] = MEAN  # the copy itself is not touched
    assert saved[0] == {"x": Value(const=1)}


def test_a_name_is_what_it_may_be_on_either_path():
    one: dict[str, Value] = {"x": Value(const=1), "only": MEAN}
    other: dict[str, Value] = {"x": MEAN}
    found, frames = join_states([(one, [{"a": MEAN}]), (other, [{"a": VARYING}])])
    assert found["x"].extent is Extent.MEAN
    assert found["x"].const is None
    assert found["only"] == MEAN
    assert frames[0]["a"].extent is Extent.VARYING


def test_of_one_path_nothing_is_forgotten():
    only = ({"x": Value(const=1)}, [{"a": MEAN}])
    assert join_states([only]) == only


def test_under_what_varies_a_plain_value_is_each_ranks_own():
    m = machine()
    with m.within(varying=True):
        m.bind("x", Value(const=1))
    m.bind("y", Value(const=1))
    assert m.globals["x"].extent is Extent.VARYING
    assert m.globals["y"].extent is Extent.UNIFORM


def test_a_condition_of_one_rank_is_counted_while_it_holds():
    m = machine()
    (test,) = [n.value for n in ast.walk(m.program.tree) if isinstance(n, ast.Expr)]
    with decided(m, test, VARYING):
        assert m.context == Context(varying=True, own_turns=True)
    with decided(m, test, Value()):
        assert m.context == Context()
    assert m.context == Context()


def test_what_ranks_decide_together_counts_no_more():
    m = machine()
    (test,) = [n.value for n in ast.walk(m.program.tree) if isinstance(n, ast.Expr)]
    m.assumed = Assumptions(agreed=frozenset({test}))
    with decided(m, test, VARYING):
        assert m.context == Context()


def compared(test: str) -> tuple[list[str], bool]:
    made = plan(*BEFORE, batch(f"fetched(1 if {test} else 2)"))
    (node,) = [n.test for n in ast.walk(made.program.tree) if isinstance(n, ast.IfExp)]
    return [ast.unparse(o) for o in operands(made.facts, node)], can_be_agreed(made.facts, node)


@pytest.mark.parametrize(
    ("test", "found"),
    [
        ("loss.item() < 3", ["loss.item()"]),
        ("3 < loss.item() < 5", ["loss.item()"]),
        ("not loss.item() < 3", ["loss.item()"]),
        ("loss.item() < 3 and epoch > 1", ["loss.item()"]),
        ("loss.item() < 3 or (x > 0).sum() > 2", ["loss.item()", "(x > 0).sum()"]),
        ("(loss < 3).item()", ["loss"]),
        ("bool(loss < 3)", ["loss"]),
    ],
)
def test_means_and_sums_can_be_agreed_on(test, found):
    assert compared(test) == (found, True)


@pytest.mark.parametrize(
    ("test", "found"),
    [
        ("x.max() < 3", ["x.max()"]),
        ("loss.item() < x.max()", ["loss.item()", "x.max()"]),
        ("epoch < 3", []),
        ("loss.item() in (1, 2)", []),
        ("loss.item()", []),
        ("torch.isnan(loss)", []),
        ("loss.item() < 3 and torch.isnan(loss)", []),
    ],
)
def test_others_cannot(test, found):
    assert compared(test) == (found, False)
