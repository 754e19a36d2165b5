"""Evaluations that draw random numbers: dealt out, each rank would draw by how many batches it has."""

from __future__ import annotations

import ast

from nbddp.analysis.library import Stream, entry_of
from nbddp.analysis.reading import Definition, Reading, drawn_for_items, drops_asleep, may_drop, with_what_it_calls
from nbddp.analysis.values import Loop, LoopFact, is_foreign


def drawing_loops(plan: Reading, loops: frozenset[Loop]) -> set[Loop]:
    """Those in which a call draws, or a model that is not in evaluation mode and may have dropout.

    What is not read may draw in that mode too, as a Boltzmann machine does.
    """
    found: set[Loop] = set()
    for fact in plan.facts.calls.values():
        ours = all(o in plan.facts.classes or o.name.startswith("torch.nn.") for o in fact.called)
        drops = fact.awake and not fact.ever_in_forward and (may_drop(plan) or not ours)
        drops = (
            drops
            or drops_asleep(plan, fact)
            or any(is_foreign(o.name) and o not in plan.facts.classes for o in fact.called)
        )
        if fact.loops & loops and (drops or entry_of(fact.node, plan.flow.imports).draws):
            found |= fact.loops & loops
    return found | {loop for loop in loops if _draws_items(plan, plan.facts.loops[loop])}


def _draws_items(plan: Reading, fact: LoopFact) -> bool:
    """By the class of the data that the loop goes through, or by what puts its batches together."""
    definitions = {s.node.name: s.node for s in plan.kept if isinstance(s.node, Definition)}
    for loader in (o.node for o in fact.loaders if isinstance(o.node, ast.Call)):
        collating = (k.value for k in loader.keywords if k.arg == "collate_fn")
        data = [*loader.args[:1], *(k.value for k in loader.keywords if k.arg == "dataset")]
        if any(drawn_for_items(plan, one, definitions) for one in data):
            return True
        called = (c for given in collating for c in with_what_it_calls(given, definitions) if isinstance(c, ast.Call))
        if any(entry_of(c, plan.flow.imports).draws for c in called):
            return True
    return False


def coin_loops(plan: Reading, loops: frozenset[Loop]) -> set[Loop]:
    """Those in which a call draws from another stream than torch's: more often on a rank that has more batches."""
    calls = ((fact, entry_of(fact.node, plan.flow.imports)) for fact in plan.facts.calls.values())
    drawn = (fact for fact, op in calls if op.draws not in (None, Stream.TORCH))
    return {loop for fact in drawn for loop in fact.loops & loops}
