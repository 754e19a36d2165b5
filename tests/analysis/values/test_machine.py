"""The state of a run: fields of things, loops around."""

from __future__ import annotations

import ast

from nbddp.analysis.values import PLACED, Active, Extent, LoopFact, Machine, Obj, Value, marked
from nbddp.analysis.values import machine as module
from nbddp.analysis.values.contexts import Context
from tests.analysis.values.test_branches import machine

MEAN, SUM = Value(extent=Extent.MEAN), Value(extent=Extent.SUM)


def loop(m: Machine, *, shares: bool = True, deals: bool = False) -> LoopFact:
    node = ast.parse("for x in y: pass").body[0]
    assert isinstance(node, ast.For)
    fact = LoopFact(node)
    m.facts.loops[node] = fact
    m.loops.append(Active(fact, shares, deals))
    return fact


def test_fields_hold_all_that_was_put_into_them():
    m, thing = machine(), Obj("instance", ast.Pass())
    m.put(thing, "a", Value(const=1))
    m.put(thing, "a", MEAN)
    found = m.get(thing, "a")
    assert found is not None
    assert found.extent is Extent.MEAN
    assert m.get(thing, "b") is None


def test_a_container_comes_to_what_it_holds():
    m = machine()
    inner, outer = Obj("list", ast.Pass(), "inner"), Obj("dict", ast.Pass(), "outer")
    m.put(inner, "[]", SUM)
    m.put(outer, "[]", Value(frozenset({inner})))
    assert m.held(Value(frozenset({outer}))) is Extent.SUM
    assert m.held(Value(frozenset({Obj("list", ast.Pass(), "other")}))) is Extent.UNIFORM


def test_a_dictionary_that_is_made_again_starts_anew_unless_it_has_numbers_of_a_share():
    m, node = machine(), ast.parse("{}", mode="eval").body
    (thing,) = m.make("dict", node).objs
    m.put(thing, "[]", Value(const=1))
    m.make("dict", node)
    assert m.get(thing, "[]") is None
    m.put(thing, "[]", SUM)
    m.make("dict", node)
    assert m.get(thing, "[]") == SUM


def test_what_happens_in_a_loop_is_noted_in_all_around():
    m = machine()
    outer, inner = loop(m, shares=False), loop(m)
    assert m.sharing()
    m.mark_backward(m.context.conditions)
    m.context = Context(conditions=1)
    m.mark_loops(step=True)
    m.mark_backward(m.context.conditions)
    assert [(f.backward, f.step) for f in (outer, inner)] == [(True, True)] * 2


def test_a_number_out_of_a_batch_belongs_to_one_sample_in_a_loop_over_them_only():
    m = machine()
    assert m.one_number(Extent.SAMPLES) is Extent.VARYING
    assert m.one_number(Extent.MEAN) is Extent.MEAN
    m.context = Context(varying=True)
    assert m.one_number(Extent.SAMPLES) is Extent.SUM
    assert m.one_number(Extent.SAMPLES, marked(Value(), PLACED)) is Extent.VARYING  # the second of each share


def test_batches_are_dealt_out_in_some_loops():
    m = machine()
    assert not m.deals()
    loop(m)
    assert not m.deals()
    loop(m, deals=True)
    assert m.deals()


def test_a_run_that_goes_on_for_too_long_is_given_up(monkeypatch):
    monkeypatch.setattr(module, "TICKS", 2)
    m = machine()
    assert [m.tick() for _ in range(4)] == [True, True, False, False]
    assert m.facts.exhausted
