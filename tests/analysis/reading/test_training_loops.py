"""Which loops that run backward train, and on which loaders."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis.reading import trained_on
from nbddp.analysis.reading.training_loops import find_dealt, find_mixed, gradients_without_a_step
from nbddp.analysis.values import CallFact, Facts, LoopFact, Obj

TRAIN, TEST = Obj("loader", ast.Pass(), "train"), Obj("loader", ast.Pass(), "test")


def loop(text: str = "for x in y: pass") -> ast.For:
    found = ast.parse(text).body[0]
    assert isinstance(found, ast.For)
    return found


def facts_of(fact: LoopFact, *, steps_in: set[ast.For] | None = None) -> Facts:
    facts = Facts(loops={fact.node: fact})
    if steps_in is not None:
        call = ast.parse("optimizer.step()", mode="eval").body
        assert isinstance(call, ast.Call)
        facts.calls[call] = CallFact(call, optimizers={Obj("optimizer", ast.Pass())}, loops=set(steps_in))
    return facts


@pytest.mark.parametrize(
    ("trained", "perhaps", "watched", "found"),
    [
        ({TRAIN}, set(), {TEST}, {TRAIN}),
        (set(), {TRAIN}, set(), {TRAIN}),
        (set(), {TRAIN, TEST}, {TEST}, {TRAIN}),
        (set(), set(), {TEST}, set()),
    ],
)
def test_loaders_on_which_a_loop_trains(trained, perhaps, watched, found):
    assert trained_on(LoopFact(loop(), trained=trained, perhaps=perhaps, watched=watched)) == found


def test_a_loop_that_does_either_is_mixed():
    node = loop()
    fact = LoopFact(node, trained={TRAIN}, watched={TEST})
    assert find_mixed(facts_of(fact)) == {node: {TRAIN}}
    assert find_mixed(facts_of(LoopFact(node, trained={TRAIN}, watched={TRAIN}))) == {}
    assert find_mixed(facts_of(LoopFact(node, watched={TEST}))) == {}


def test_comprehensions_that_train():
    node = ast.comprehension(ast.Name("x", ast.Store()), ast.Name("y", ast.Load()), [], 0)
    assert find_dealt(facts_of(LoopFact(node, trained={TRAIN}))) == {node: {TRAIN}}
    assert find_dealt(facts_of(LoopFact(node, watched={TRAIN}))) == {}
    assert find_dealt(facts_of(LoopFact(loop(), trained={TRAIN}))) == {}


def test_gradients_without_a_step_train_nothing():
    node, other = loop(), loop()
    fact = LoopFact(node, backward=True, loaders={TEST})
    assert list(gradients_without_a_step(facts_of(fact, steps_in={other}))) == [node]
    assert not gradients_without_a_step(facts_of(fact, steps_in={node}))
    assert not gradients_without_a_step(facts_of(fact))  # parameters are moved by hand
    assert not gradients_without_a_step(facts_of(LoopFact(node, loaders={TEST}), steps_in={other}))


def test_a_step_after_several_batches_is_one_of_the_loop_around():
    node, outer = loop(), loop()
    fact = LoopFact(node, backward=True, loaders={TEST}, parents={outer})
    assert not gradients_without_a_step(facts_of(fact, steps_in={outer}))
