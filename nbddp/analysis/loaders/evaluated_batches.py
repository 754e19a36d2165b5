"""How large the batches of evaluation loops are, and what in the code is about them."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from nbddp.analysis.loaders.sharding import ShardedReading
from nbddp.analysis.reading import only_shows
from nbddp.analysis.syntax import walk
from nbddp.analysis.values import Loop


def in_evaluation(plan: ShardedReading, node: ast.AST) -> bool:
    """Inside an evaluation loop, here or in a function that only such loops call."""
    return _inside(plan, node, _evaluation(plan))


def made_for_evaluation(plan: ShardedReading, node: ast.AST) -> bool:
    """In an evaluation loop, or in a statement before one that it reads from: `hidden = net.init_hidden(size)`."""
    return _made_for(plan, node, _evaluation(plan))


def shown_beside(plan: ShardedReading, node: ast.AST) -> bool:
    """In `show_samples()` after each epoch, which makes what it shows itself."""
    function = plan.program.function_of(node)
    training = {f.node for f in plan.roles.batch_loops}
    calls = [plan.facts.calls[c] for c in plan.callers.get(function, [])] if function is not None else []
    apart = bool(calls) and all(call.loops.isdisjoint(training) for call in calls)
    return apart and only_shows(plan.program, plan.facts, function)


def made_for_all(plan: ShardedReading, node: ast.AST) -> bool:
    """For an evaluation on a loader that draws shares where it trains: there it draws the batches of one process."""
    return _made_for(plan, node, _on_shared(plan))


def sizes_evaluation(plan: ShardedReading, shapes: Iterable[ast.AST], others: Iterable[ast.AST]) -> bool:
    """Does an evaluation on loaders of its own need batches of the size that its shapes have?"""
    own = _evaluation(plan) - _on_shared(plan)
    calls = (next((a for a in plan.program.ancestors(n) if a in plan.facts.calls), None) for n in shapes)
    if any(isinstance(c, ast.Call) and plan.facts.calls[c].loops & own for c in calls):
        return True
    return any(_reaches(plan, node, loop) for node in others for loop in own - plan.assumed.whole.keys())


def _evaluation(plan: ShardedReading) -> set[Loop]:
    return {f.node for f in plan.roles.evaluation_loops}


def _on_shared(plan: ShardedReading) -> set[Loop]:
    return {f.node for f in plan.roles.evaluation_loops if f.loaders & plan.sharding.loaders}


def _made_for(plan: ShardedReading, node: ast.AST, evaluation: set[Loop]) -> bool:
    return _inside(plan, node, evaluation) or any(_reaches(plan, node, loop) for loop in evaluation)


def _inside(plan: ShardedReading, node: ast.AST, evaluation: set[Loop], seen: frozenset[ast.AST] = frozenset()) -> bool:
    if not evaluation.isdisjoint(plan.program.ancestors(node)):
        return True
    function = plan.program.function_of(node)
    if function is None or function in seen:
        return False
    calls = plan.callers.get(function, [])
    return bool(calls) and all(_inside(plan, c, evaluation, seen | {function}) for c in calls)


def _reaches(plan: ShardedReading, node: ast.AST, loop: Loop) -> bool:
    """Does the loop read what is made with the number before it?"""
    statement, function = plan.program.statement_of(node), plan.program.function_of(loop)
    begins = loop.target.lineno if isinstance(loop, ast.comprehension) else loop.lineno
    if not isinstance(statement, ast.Assign) or plan.program.function_of(node) is not function:
        return False
    later = {n for a in plan.nodes() if isinstance(a, ast.Assign) and statement.lineno < a.lineno < begins
             and plan.program.function_of(a) is function for n in _bound(a)}  # fmt: skip
    made = _bound(statement) - later if statement.lineno < begins else set[str]()
    binds = [s for s in reversed(getattr(loop, "body", ())) if isinstance(s, ast.Assign)]
    own = {name: s.lineno for s in binds for name in _bound(s)}
    inside = (n for n in walk(loop) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load))
    read = [n for n in inside if n.lineno <= own.get(n.id, n.lineno)]  # and not `output` of its own
    return any(n.id in made and not plan.facts.value(n).number for n in read)


def _bound(node: ast.Assign) -> set[str]:
    return {n.id for t in node.targets for n in walk(t) if isinstance(n, ast.Name)}
