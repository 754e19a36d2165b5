"""Containers that may hold more on one rank than on another."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis.values import Facts, Obj, Value, is_of_own_choice, is_uneven, note_size
from tests.analysis.cells import BEFORE, batch, node, plan

LIST, OTHER = Obj("list", ast.Pass(), "a"), Obj("dict", ast.Pass(), "b")


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


def test_iterators_over_each_other_come_to_an_end():
    facts, one = Facts(), Obj("iterator", ast.Pass(), "cycle")
    facts.fields[one, "of"] = of(one)
    assert not is_uneven(facts, of(one))


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
