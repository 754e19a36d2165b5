"""What a run brings to light."""

from __future__ import annotations

import ast

from nbddp.analysis.values import ANYTHING, Extent, Facts, LoopFact, Obj, Value
from nbddp.analysis.values.facts import Fields


def obj(name: str) -> Obj:
    return Obj("model", ast.Pass(), name)


def test_a_place_has_what_it_had_at_any_time():
    facts, node = Facts(), ast.Pass()
    facts.see(node, Value(const=1))
    facts.see(node, Value(extent=Extent.MEAN))
    assert facts.value(node).extent is Extent.MEAN
    assert facts.value(node).const is None


def test_of_a_place_that_was_not_reached_nothing_is_known():
    assert Facts().value(ast.Pass()) == ANYTHING


def test_the_outermost_modules_that_hold_one():
    inner, middle, outer, other = map(obj, ("inner", "middle", "outer", "other"))
    facts = Facts(contained={inner: {middle, other}, middle: {outer}})
    assert facts.roots(inner) == {outer, other}
    assert facts.roots(outer) == {outer}


def test_modules_that_hold_each_other_are_their_own():
    one, other = map(obj, ("one", "other"))
    assert Facts(contained={one: {other}, other: {one}}).roots(one) == {one}
    assert Facts(contained={one: {one}}).roots(one) == {one}


def test_a_loop_draws_itself_where_no_loop_inside_does():
    outer, inner = (ast.parse("for x in y: pass").body[0] for _ in range(2))
    assert isinstance(outer, ast.For)
    assert isinstance(inner, ast.For)
    loader = Obj("loader", ast.Pass())
    facts = Facts()
    facts.loops[outer] = LoopFact(outer, next_of={loader})
    facts.loops[inner] = LoopFact(inner, parents={outer})
    assert facts.draws_itself(facts.loops[outer])
    facts.loops[inner].next_of = {loader}
    assert not facts.draws_itself(facts.loops[outer])
    assert facts.draws_itself(facts.loops[inner])


def test_what_a_thing_holds_is_found_without_the_others():
    fields, one, other = Fields(), Obj("list", ast.Pass()), Obj("dict", ast.Pass())
    fields[one, "[]"], fields[other, "[]"], fields[one, "a"] = (Value(const=n) for n in range(3))
    assert fields.of(one) == [("[]", Value(const=0)), ("a", Value(const=2))]
    assert len(fields.of(one, other)) == 3
    del fields[one, "[]"]
    assert (fields.of(one), fields.of(Obj("list", ast.Pass()))) == ([("a", Value(const=2))], [])
