"""What is in a value, and which containers may hold more on one rank than on another."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis.values import (
    SOURCES,
    Extent,
    Facts,
    Obj,
    Value,
    contents,
    is_of_own_choice,
    is_uneven,
    note_size,
    sources,
    thing,
)
from tests.analysis.cells import BEFORE, batch, node, plan

MEAN = Value(extent=Extent.MEAN)
LIST, OTHER = Obj("list", ast.Pass(), "a"), Obj("dict", ast.Pass(), "b")


def held(kind: str, field: str, value: Value, facts: Facts) -> Value:
    made = thing(kind, ast.Pass(lineno=len(facts.fields) + 1))
    (obj,) = made.objs
    facts.fields[obj, field] = value
    return made


def test_lists_in_dictionaries_in_tuples():
    facts = Facts()
    inner = held("list", "[]", MEAN, facts)
    outer = held("dict", "[]", inner, facts)
    assert MEAN in contents(facts, Value(items=(outer,)))
    assert MEAN not in contents(facts, held("instance", "mean", MEAN, facts))
    assert MEAN in contents(facts, held("instance", "mean", MEAN, facts), {"instance": None})
    assert MEAN in contents(facts, held("instance", "mean", outer, facts), None)


def test_a_thing_that_holds_itself_is_opened_once():
    facts = Facts()
    made = held("list", "[]", MEAN, facts)
    (obj,) = made.objs
    facts.fields[obj, "[]"] = made
    assert list(contents(facts, made)) == [made, made]


def test_what_a_loop_goes_through_and_no_tuple():
    facts = Facts()
    loader = thing("loader", ast.Pass())
    bar = held("iterator", "of", Value(items=(loader, MEAN)), facts)
    assert loader in sources(facts, bar, SOURCES)
    assert loader not in sources(facts, Value(items=(loader,)))


def of(*objs: Obj) -> Value:
    return Value(frozenset(objs))


def test_what_was_noted_is_uneven_and_others_are_not():
    facts = Facts()
    note_size(facts, [LIST])
    assert is_uneven(facts, of(LIST))
    assert is_uneven(facts, of(LIST, OTHER))
    assert not is_uneven(facts, of(OTHER))
    assert not is_uneven(facts, Value())


def test_what_goes_through_it_is_too():
    facts = Facts()
    note_size(facts, [LIST])
    once, twice, beside = (Obj("iterator", ast.Pass(), name) for name in ("enumerate", "zip", "items"))
    facts.fields[once, "of"] = of(LIST)
    facts.fields[twice, "of"] = Value(items=(of(OTHER), of(once)))
    facts.fields[beside, "of"] = of(OTHER)
    assert is_uneven(facts, of(once))
    assert is_uneven(facts, of(twice))
    assert not is_uneven(facts, of(beside))


@pytest.mark.parametrize(
    ("call", "own"),
    [
        ("kept[y[0].item()].append(1)", True),
        ("kept.setdefault(y[0].item(), []).append(1)", True),
        ("kept.get(y[0].item(), []).append(1)", True),
        ("kept[epoch].append(1)", False),
        ("kept.setdefault('a', []).append(y)", False),
        ("kept.append(y)", False),
    ],
)
def test_which_list_it_is_each_rank_may_know_for_itself(call, own):
    made = plan(*BEFORE, "kept = {}", batch(call))
    assert is_of_own_choice(made.facts, node(made, ast.Call, call)) is own
