"""Which training loops a script goes through, in order: a state goes into the first loop of the training cell."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from nbddp.analysis.facts import LoopFact
from nbddp.analysis.plan import Plan
from nbddp.analysis.program import Statement
from nbddp.cli.parse import Refusal

DEFINITION = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def first_loop(plan: Plan) -> LoopFact | None:
    """The first that the training cell runs and that can take a state; None where it has none."""
    own = {s for s in plan.kept if s.cell.number == plan.training_cell}
    loops = [fact for fact in plan.roles.epoch_loops if isinstance(fact.node, ast.For)]
    here = [fact for fact in loops if plan.top_level(fact.node) in own and not _function(plan, fact)]
    called = [fact for fact in loops if _function(plan, fact)]
    ordered = sorted(here or called, key=lambda fact: getattr(fact.node, "lineno", 0))
    return ordered[0] if ordered else None


def loops_before(plan: Plan) -> int:
    """How many the cells before it go through. They have been trained already, and the script will skip them."""
    return sum(
        _runs(plan, statement)
        for statement in plan.kept
        if statement.cell.number != plan.training_cell and not isinstance(statement.node, DEFINITION)
    )


def _runs(plan: Plan, statement: Statement) -> int:
    loops = [f for f in plan.roles.epoch_loops if isinstance(f.node, ast.For)]
    inside = [fact.node for fact in loops if not _function(plan, fact) and plan.top_level(fact.node) is statement]
    functions = [name for fact in loops if (name := _function(plan, fact))]
    calls = [node for node in ast.walk(statement.node) if isinstance(node, ast.Call) and _called(node) in functions]
    if any(_repeated(plan, node) for node in (*inside, *calls)):
        number = statement.cell.number
        raise Refusal(
            f"Cell {number} trains in a loop around its epochs, so it cannot be told where the notebook's "
            "state belongs: add --fresh to train as all cells do, from the first."
        )
    return len(inside) + sum(functions.count(_called(node)) for node in calls)


def _repeated(plan: Plan, node: ast.AST) -> bool:
    return any(isinstance(a, ast.For | ast.While | ast.comprehension) for a in _around(plan, node))


def _around(plan: Plan, node: ast.AST) -> Iterator[ast.AST]:
    for ancestor in plan.program.ancestors(node):
        if isinstance(ancestor, DEFINITION):
            return
        yield ancestor


def _function(plan: Plan, fact: LoopFact) -> str:
    function = plan.program.function_of(fact.node)
    return function.name if function else ""


def _called(node: ast.Call) -> str:
    return node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
