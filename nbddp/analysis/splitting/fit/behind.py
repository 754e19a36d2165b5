"""What the notebook runs outside of its steps, as one process does, and what is for a rank's samples is not there.

A step ends where it has trained. Behind it, dropout for a rank's samples would be drawn for these alone, and a
BatchNorm would count a batch that all ranks have whole once for each of them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from nbddp.analysis.reading import Reading, drops_asleep, may_drop, untrained_with_statistics, with_statistics
from nbddp.analysis.splitting.fit.own_draws import draws_for_part
from nbddp.analysis.splitting.regions import run_by, step_of
from nbddp.analysis.syntax import walk
from nbddp.analysis.values import CallFact, Pass
from nbddp.sentence import NOTHING, Sentence, sentence


def behind_steps(plan: Reading) -> Sentence:
    """Why the numbers there are not those of one process."""
    counting = with_statistics(plan)
    for fact in sorted(_outside(plan), key=lambda f: plan.program.span(f.node)):
        passes = plan.facts.passes.get(fact.node, set())
        if any(p.of_part and _may_draw(plan, p) for p in passes) or _draws_for_part(plan, fact.node):
            return sentence("'%1' draws for samples of a batch behind the step", plan.program.source(fact.node))
        if any(p.awake and not p.of_part and p.model in counting for p in passes):
            return sentence("'%1' gives a BatchNorm in training mode all samples", plan.program.source(fact.node))
    apart = min(untrained_with_statistics(plan), key=lambda o: plan.program.span(o.node), default=None)
    if apart is None:
        return NOTHING
    return sentence("a BatchNorm of '%1' is in training mode, and nothing trains it", apart.name.rpartition(".")[2])


def _outside(plan: Reading) -> Iterator[CallFact]:
    """The calls that are in no step and lead to none, of the cells and of functions that train."""
    steps = {n for split in plan.assumed.splits for s in step_of(plan, split) for n in walk(s)}
    train = plan.functions_that_run(c for c in plan.facts.calls if c in steps)
    for fact in plan.facts.calls.values():
        function = plan.program.function_of(fact.node)
        if fact.node not in steps and not fact.bodies & train and (function is None or function in train):
            yield fact


def _may_draw(plan: Reading, seen: Pass) -> bool:
    """In layers of torch's, in what is not read, in its own text."""
    read = seen.model in plan.facts.classes or seen.model.name.startswith("torch.nn.")
    own = (f for f in plan.facts.calls.values() if seen.model in f.called)
    drops = any(drops_asleep(plan, f) for f in plan.facts.calls.values())
    drops = drops or (seen.awake and (may_drop(plan) or not read))
    return drops or any(_draws_for_part(plan, f.node, True) for f in own)


def _draws_for_part(plan: Reading, call: ast.Call, in_forward: bool = False) -> bool:
    facts = (plan.facts.calls.get(n) for n in run_by(plan, call) if isinstance(n, ast.Call))
    return any(f.ever_in_forward is in_forward and draws_for_part(plan, f) for f in facts if f is not None)
