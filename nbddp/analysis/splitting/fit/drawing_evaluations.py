"""Evaluations that draw random numbers: dealt out, each rank would draw by how many batches it has."""

from __future__ import annotations

import ast

from nbddp.analysis.library import Stream, entry_of
from nbddp.analysis.reading import Definition, Reading, drawn_for_items, drops_asleep, may_drop, with_what_it_calls
from nbddp.analysis.syntax import walk
from nbddp.analysis.values import Loop, LoopFact, is_foreign

BUILDING = ("__init__", "__new__", "__post_init__")  # methods that run where a thing is made


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
        if any(drawn_for_items(plan, one, definitions) or _has_drawing_class(plan, one) for one in data):
            return True
        called = (c for given in collating for c in with_what_it_calls(given, definitions) if isinstance(c, ast.Call))
        if any(entry_of(c, plan.flow.imports).draws for c in called):
            return True
    return False


def coin_loops(plan: Reading, loops: frozenset[Loop]) -> set[Loop]:
    """Those in which a call draws from Python's or NumPy's stream: more often on a rank that has more batches."""
    drawn = (
        f
        for f in plan.facts.calls.values()
        if entry_of(f.node, plan.flow.imports).draws in (Stream.PYTHON, Stream.NUMPY)
    )
    return {loop for fact in drawn for loop in fact.loops & loops}


def _has_drawing_class(plan: Reading, data: ast.expr) -> bool:
    """Also through `Subset(data, rows)` and `random_split(data, …)`."""
    things = [*plan.facts.value(data).objs]
    sources = (plan.facts.fields.get((o.owner or o, "source")) for o in things)
    things += [o for source in sources if source is not None for o in source.objs]
    classes = (plan.facts.classes.get(o) for o in things)
    methods = (s for node in classes if node is not None for s in node.body if getattr(s, "name", "") not in BUILDING)
    calls = (n for s in methods for n in walk(s) if isinstance(n, ast.Call))
    return any(entry_of(call, plan.flow.imports).draws for call in calls)
