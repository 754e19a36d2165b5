"""Names by their frames, and under what they are bound."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis.values import Extent, Frame, Machine, Value
from nbddp.analysis.values.contexts import Context
from tests.analysis.values.test_branches import machine

MEAN, SUM = Value(extent=Extent.MEAN), Value(extent=Extent.SUM)


def function() -> ast.FunctionDef:
    made = ast.parse("def f(): pass").body[0]
    assert isinstance(made, ast.FunctionDef)
    return made


def inside(m: Machine, **options: object) -> Frame:
    m.frames.append(Frame(function(), {}, **options))  # type: ignore[arg-type]
    return m.frame


def test_a_name_is_looked_up_from_the_inside():
    m = machine()
    m.globals |= {"a": MEAN, "b": MEAN}
    outer = inside(m)
    outer.local["a"] = SUM
    inside(m, outer=outer)
    assert (m.lookup("a"), m.lookup("b"), m.lookup("c")) == (SUM, MEAN, None)
    assert m.visible() == {"a": SUM, "b": MEAN}


@pytest.mark.parametrize(("option", "place"), [("global_names", "globals"), ("outer_names", "outer"), ("", "local")])
def test_a_name_is_bound_where_the_function_says(option, place):
    m = machine()
    outer = inside(m)
    frame = inside(m, outer=outer, **({option: frozenset({"a"})} if option else {}))
    m.bind("a", MEAN)
    found = {"globals": m.globals, "outer": outer.local, "local": frame.local}
    assert [name for name, env in found.items() if "a" in env] == [place]


def test_numbers_of_a_share_under_a_condition_of_the_share_do_not_add_up():
    m = machine()
    m.context = Context(of_share=True)
    m.bind("number", Value(extent=Extent.SUM, number=True))
    m.bind("tensor", SUM)
    assert m.globals["number"].extent is Extent.VARYING
    assert m.globals["tensor"].extent is Extent.SUM


def test_a_context_that_is_left_is_the_one_that_was_around():
    made = machine()
    with made.within(varying=True, conditions=1):
        with made.within(varying=False):
            assert made.context == Context(conditions=1)
        assert made.context == Context(varying=True, conditions=1)
    assert made.context == Context()
