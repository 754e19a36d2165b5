"""Which of the loops that run backward train, and on which of their loaders."""

from __future__ import annotations

import ast
from collections.abc import Container, Sequence

from nbddp.analysis.library import Shape, effect_of
from nbddp.analysis.syntax import Program, place_of
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


def only_looked_at(program: Program, facts: Facts) -> set[Obj]:
    """Loaders of which `next()` takes batches in a loop that trains, to evaluate them on the way."""
    looks, trains = set[Obj](), set[Obj]()
    for draw, loaders in facts.drawn.items():
        (looks if _is_looked_at(program, facts, draw) else trains).update(loaders)
    iterated = {o for f in facts.loops.values() if f.backward for o in f.loaders}
    return looks - trains - iterated


def _is_looked_at(program: Program, facts: Facts, draw: ast.Call) -> bool:
    """Does all that reads the batch follow no gradient, whatever has given it its names?"""
    statement, home = program.statement_of(draw), program.function_of(draw)
    if not isinstance(statement, ast.Assign) or statement.value is not draw:
        return False
    names = {n.id: n for t in statement.targets for n in ast.walk(t) if isinstance(n, ast.Name)}
    around = [n for n in program.nodes if isinstance(n, ast.Name) and n.id in names and program.function_of(n) is home]
    seen = [n for n in around if not _is_moved(program, n)]
    reads = [n for n in seen if isinstance(n.ctx, ast.Load) and _reaches(program, names[n.id], n, seen)]
    return bool(reads) and all(_has_no_gradient(program, facts, n) for n in reads)


def _reaches(program: Program, store: ast.Name, read: ast.Name, names: Sequence[ast.Name]) -> bool:
    """Is no other store surely come to between the two, in this turn or the next?"""
    blocks = {*program.ancestors(read)}
    stores = (n for n in names if n.id == read.id and isinstance(n.ctx, ast.Store) and place_of(n) < place_of(read))
    sure = [place_of(n) for n in stores if _block_of(program, program.statement_of(n)) in blocks]
    return not sure or max(sure) <= place_of(store) < place_of(read)


def _block_of(program: Program, statement: ast.stmt) -> ast.AST:
    """What it is a part of; of a `try` what that is a part of, as its `except` is there to do the same."""
    around = program.parents[statement]
    while isinstance(around, ast.Try) and statement in around.body:
        statement, around = around, program.parents[around]
    return around


def _is_moved(program: Program, name: ast.Name) -> bool:
    """`x = x.to(device)`, of which both are the batch still."""
    statement = program.statement_of(name)
    if isinstance(name.ctx, ast.Store) and isinstance(statement, ast.Assign):
        names = (n for n in ast.walk(statement.value) if isinstance(n, ast.Name) and n.id == name.id)
        return any(_is_moved(program, n) for n in names if isinstance(n.ctx, ast.Load))
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    moved = program.parents[name]
    kept = isinstance(moved, ast.Attribute) and effect_of(f".{moved.attr}").shape is Shape.SAME
    return kept and any(isinstance(n, ast.Name) and n.id == name.id for t in targets for n in ast.walk(t))


def _has_no_gradient(program: Program, facts: Facts, name: ast.Name) -> bool:
    calls = [facts.calls[a] for a in program.ancestors(name) if isinstance(a, ast.Call) and a in facts.calls]
    return any(c.no_grad and not c.grad for c in calls)
