"""How large the batches of evaluation loops are, and what in the code is about them."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from nbddp.analysis.facts import Loop
from nbddp.analysis.plan import Plan


def in_evaluation(plan: Plan, node: ast.AST) -> bool:
    """Inside an evaluation loop, here or in a function that only such loops call."""
    evaluation = _evaluation(plan)
    call: ast.Call | None = None
    for around in plan.program.ancestors(node):
        if around in evaluation:
            return True
        if call is None and isinstance(around, ast.Call) and around in plan.facts.calls:
            call = around
    loops = plan.facts.calls[call].loops if call is not None else set[Loop]()
    return bool(loops & evaluation) and not loops & {f.node for f in plan.roles.batch_loops}


def made_for_evaluation(plan: Plan, node: ast.AST) -> bool:
    """In an evaluation loop, or in a statement before one that it reads from: `hidden = net.init_hidden(size)`."""
    return in_evaluation(plan, node) or any(_reaches(plan, node, loop) for loop in _evaluation(plan))


def sizes_evaluation(plan: Plan, shapes: Iterable[ast.AST], others: Iterable[ast.AST]) -> bool:
    """Does an evaluation need batches of the size that its own shapes have?"""
    evaluation = _evaluation(plan)
    calls = (next((a for a in plan.program.ancestors(n) if a in plan.facts.calls), None) for n in shapes)
    if any(isinstance(c, ast.Call) and plan.facts.calls[c].loops & evaluation for c in calls):
        return True
    return any(_reaches(plan, node, loop) for node in others for loop in evaluation)


def _evaluation(plan: Plan) -> set[Loop]:
    return {f.node for f in plan.roles.evaluation_loops}


def _reaches(plan: Plan, node: ast.AST, loop: ast.AST) -> bool:
    """Does the loop read what is made with the number before it?"""
    statement = plan.program.statement_of(node)
    if not isinstance(statement, ast.Assign) or plan.program.function_of(node) is not plan.program.function_of(loop):
        return False
    made = {n.id for t in statement.targets for n in ast.walk(t) if isinstance(n, ast.Name)}
    inside = (n for n in ast.walk(loop) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load))
    return any(n.id in made and not plan.facts.value(n).number for n in inside)
