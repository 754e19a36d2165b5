"""What it does
    Lets one process of each machine go first where data is fetched, unpacked or prepared on the disk.

Why DDP needs it
    N processes that download the same file at once write over each other, and read halves.

Before
    train_set = MNIST("data", download=True)

After
    with first_on_rank_0():
        train_set = MNIST("data", download=True)

Declines
    Statements inside of loops and conditions, and those that train: there the ranks could wait for each other.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from nbddp.analysis.edit import Edit, guard
from nbddp.analysis.files import fetches, makes_folders, opens_to_write, writes
from nbddp.analysis.plan import Plan
from nbddp.diagnostics import Diagnostic

NAME = "download"


def rewrite(plan: Plan) -> Iterator[Edit | Diagnostic]:
    yield from _block(plan, [s.node for s in plan.kept], set())


def _block(plan: Plan, block: list[ast.stmt], seen: set[ast.AST]) -> Iterator[Edit]:
    """Statements that run one after another on every rank; into the functions that train, not into branches."""
    for statement in block:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom):
            continue
        if _trains(plan, statement):
            for function in _called(plan, statement):
                if function not in seen and _trains(plan, function):
                    seen.add(function)
                    yield from _block(plan, function.body, seen)
            return  # what comes behind the training is not preparation
        elif _prepares(plan, statement, set()):
            plan.prepared.add(statement)
            part = plan.naming("first_on_rank_0")
            for edit in guard(plan.program, NAME, statement, "CONDITION", ("first_on_rank_0",)):
                yield _as_with(edit, f"{part}()")


def _as_with(edit: Edit, manager: str) -> Edit:
    text = edit.text.replace("if CONDITION:", f"with {manager}:")
    return Edit(edit.rule, edit.start, edit.end, text, edit.place, edit.uses)


def _trains(plan: Plan, node: ast.AST) -> bool:
    """Does it hold a loop of the training, here or in what it calls?"""
    for inner in ast.walk(node):
        if isinstance(inner, ast.For | ast.While) and inner in plan.facts.loops and plan.facts.loops[inner].backward:
            return True
        if isinstance(inner, ast.Call) and inner in plan.facts.calls:
            if any(_holds_training(plan, o.node) for o in plan.facts.calls[inner].called if o.kind == "function"):
                return True
            if plan.facts.calls[inner].methods and _method_trains(plan, inner):
                return True
    return False


def _holds_training(plan: Plan, function: ast.AST) -> bool:
    return any(
        isinstance(n, ast.Call) and n in plan.facts.backward for n in ast.walk(function)
    ) or any(
        isinstance(n, ast.For | ast.While) and n in plan.facts.loops and plan.facts.loops[n].backward
        for n in ast.walk(function)
    )  # fmt: skip


def _method_trains(plan: Plan, call: ast.Call) -> bool:
    return any(_holds_training(plan, m) for m in _methods(plan, call))


def _methods(plan: Plan, call: ast.Call) -> list[ast.FunctionDef]:
    found = []
    for name, owner in sorted(plan.facts.calls[call].methods, key=lambda m: m[0]):
        cls = plan.facts.classes.get(owner)
        found += [p for p in (cls.body if cls else []) if isinstance(p, ast.FunctionDef) and p.name == name]
    return found


def _called(plan: Plan, statement: ast.stmt) -> list[ast.FunctionDef]:
    found: list[ast.FunctionDef] = []
    for node in ast.walk(statement):
        if isinstance(node, ast.Call) and node in plan.facts.calls:
            functions = (o.node for o in plan.facts.calls[node].called)
            found += [f for f in functions if isinstance(f, ast.FunctionDef)]
            found += _methods(plan, node)
    return found


def _prepares(plan: Plan, node: ast.AST, seen: set[ast.AST]) -> bool:
    """Does it fetch or write, here or in a function of the notebook that it calls?"""
    for inner in ast.walk(node):
        kept = opens_to_write(plan, inner) and not isinstance(plan.program.statement_of(inner), ast.With)
        if fetches(plan, inner) or (opens_to_write(plan, inner) and not kept) or makes_folders(plan, inner):
            return True
        if writes(plan, inner):
            return True
        if isinstance(inner, ast.Call) and inner in plan.facts.calls:
            fact = plan.facts.calls[inner]
            bodies = [o.node for o in fact.called if o.kind == "function"] + [
                plan.facts.classes[o] for o in fact.made if o in plan.facts.classes
            ]
            for body in (b for b in bodies if b not in seen):
                seen.add(body)
                if _prepares(plan, body, seen):
                    return True
    return False
