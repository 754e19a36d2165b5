"""Which of the loops that run backward train, and on which of their loaders."""

from __future__ import annotations

import ast
from collections.abc import Container

from nbddp.analysis.values import Facts, Loop, LoopFact, Obj
from nbddp.sentence import Sentence, sentence


def gradients_without_a_step(facts: Facts) -> dict[Loop, Sentence]:
    """Loops that follow gradients but train nothing, as those that attack a model or explain it; by why."""
    steps = [c.loops for c in facts.calls.values() if c.optimizers]
    if not steps:  # parameters are moved by hand
        return {}
    return {
        fact.node: sentence("it computes gradients, but no optimizer takes a step")
        for fact in facts.loops.values()
        if fact.backward and fact.loaders and not any(fact.node in s or s <= fact.parents for s in steps)
    }


def find_mixed(facts: Facts, whole: Container[Loop] = ()) -> dict[Loop, frozenset[Obj]]:
    """Loops that train on some of their loaders and evaluate on others, each time with the one or the other."""
    found = {}
    for fact in facts.loops.values():
        trained = trained_on(fact)
        if trained and fact.watched - trained and fact.node not in whole:
            found[fact.node] = frozenset(trained)
    return found


def find_dealt(facts: Facts) -> dict[Loop, frozenset[Obj]]:
    """Comprehensions that train, as `[step(x, y) for x, y in loader]`, and on what; others see all of the data.

    They have no place behind them where shares could be put together.
    """
    trained = {n: frozenset(trained_on(fact)) for n, fact in facts.loops.items() if isinstance(n, ast.comprehension)}
    return {node: loaders for node, loaders in trained.items() if loaders}


def trained_on(fact: LoopFact) -> set[Obj]:
    """The loaders on which the loop trains, as far as that is sure."""
    return fact.trained | (fact.perhaps - fact.watched)
