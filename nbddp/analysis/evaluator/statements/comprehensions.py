"""Comprehensions and generator expressions: loops inside of an expression."""

from __future__ import annotations

import ast
from collections.abc import Callable
from contextlib import ExitStack

from nbddp.analysis.evaluator.expressions import evaluate
from nbddp.analysis.evaluator.iteration import as_often_as, element_key, literal_elements, loaders_in
from nbddp.analysis.evaluator.statements.bindings import assign
from nbddp.analysis.evaluator.statements.loops import element, enter, note_use
from nbddp.analysis.syntax import walk
from nbddp.analysis.values import ONE, Active, Machine, Obj, chosen_by, is_uneven, last_finding, state_of
from nbddp.sentence import sentence


def comprehension_loops(m: Machine, generators: list[ast.comprehension], body: Callable[[], None]) -> None:
    if not generators:
        body()
        return
    first = generators[0]
    iterable = evaluate(m, first.iter)
    fact = enter(m, first, iterable, first.iter)
    loaders = loaders_in(m, iterable)
    active = Active(fact, bool(loaders & m.assumed.dealt.get(first, frozenset())), untaped=m.is_untaped())
    m.loops.append(active)
    own = {n.id for n in walk(first.target) if isinstance(n, ast.Name)}
    for turn in range(2):
        before, found = state_of(m, own), last_finding()
        active.shares &= not (turn and first in m.assumed.unsure)  # a share, or all of it: a sum is then neither
        for value in literal_elements(m, iterable) or [element(m, iterable, first, active)]:
            key = element_key(value).const
            turn_of = Obj("turn", first, repr(key)) if key is not None else m.context.turn
            with ExitStack() as around:
                around.enter_context(m.within(turn=turn_of))
                around.enter_context(as_often_as(m, iterable, first.iter))
                assign(m, first.target, value)
                for condition in first.ifs:
                    asked = evaluate(m, condition)
                    if not asked.of(ONE):  # `[g.update(lr=0.1) for g in optimizer.param_groups if loss > best]`
                        m.differs(condition, asked)
                    around.enter_context(chosen_by(m, asked))
                with m.within(varying=m.context.varying or is_uneven(m.facts, iterable)):
                    comprehension_loops(m, generators[1:], body)
        if last_finding() is found and state_of(m, own) == before and first not in m.assumed.unsure:
            break
    m.loops.pop()
    note_use(fact, loaders | active.next_of, active.backward, active.unsure)
    if fact.backward:
        m.facts.keep_whole.pop(first, None)
    elif fact.loaders:
        m.facts.keep_whole[first] = sentence("results of a comprehension cannot be combined; use a for loop")
