"""Code that all ranks run together: where one of them stays away, the others wait for it for ever."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from nbddp.analysis.loaders import handed_on
from nbddp.analysis.models import gathers
from nbddp.analysis.reading import Reading, loads
from nbddp.analysis.syntax import walk

Loop = ast.For | ast.AsyncFor | ast.While | ast.comprehension


def meets(plan: Reading, nodes: Iterable[ast.AST]) -> ast.AST | None:
    """The first place, here or in what is called, at which the ranks meet: a batch drawn, a step, a file read back."""
    return next((node for node in reached(plan, nodes) if is_meeting(plan, node)), None)


def reached(plan: Reading, nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """All code below the nodes, and that of the functions of the notebook that it calls."""
    seen: set[ast.AST] = set()
    todo = list(nodes)
    while todo:
        for node in walk(todo.pop()):
            yield node
            if isinstance(node, ast.Call):
                new = called(plan, node) - seen
                seen |= new
                todo += sorted(new, key=lambda n: n.lineno)  # type: ignore[attr-defined]


def called(plan: Reading, node: ast.Call) -> set[ast.AST]:
    """The functions and methods of the notebook whose body a call runs."""
    fact = plan.facts.calls.get(node)
    return fact.bodies if fact else set()


def is_meeting(plan: Reading, node: ast.AST) -> bool:
    if isinstance(node, Loop):
        loop = plan.facts.loops.get(node)
        return loop is not None and bool(loop.loaders)
    if not isinstance(node, ast.Call) or (fact := plan.facts.calls.get(node)) is None:
        return False
    if node in plan.facts.backward or fact.optimizers or loads(plan, node):
        return True
    if getattr(node.func, "attr", "") == "compute" and {o.kind for o in fact.receivers} == {"metric"}:
        return True
    if gathers(plan, node) or next(handed_on(plan, fact), None) is not None:
        return True
    trained = {m.obj for m in plan.roles.models}
    return "next" in fact.names or (fact.grad and not fact.in_forward and bool(fact.called & trained))
