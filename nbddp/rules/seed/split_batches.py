"""Batches that all ranks draw alike, beside a step in which each draws its own."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from nbddp.analysis import Plan
from nbddp.analysis.reading import Definition, draws
from nbddp.analysis.splitting import chain_of
from nbddp.analysis.values import CallFact
from nbddp.edits import Edit, within, wrap

COUNTING = ("range", "enumerate", "zip", "tqdm", "trange", "tqdm.tqdm", "tqdm.auto.tqdm", "tqdm.notebook.tqdm", "len")


def draws_by_share(plan: Plan, fact: CallFact) -> bool:
    """Noise for the rank's samples: of another number of them each rank would draw another number."""
    return any(v.varies or v.size for v in fact.args.values())


def alike(plan: Plan, name: str) -> Iterator[Edit]:
    """Whatever draws in the loops around a step, and is no part of it."""
    chain = chain_of(plan)
    definitions = {s.node.name: s.node for s in plan.kept if isinstance(s.node, Definition)}
    loops = [f.node for f in plan.facts.loops.values() if f.backward and isinstance(f.node, ast.For | ast.While)]
    for loop in sorted(loops, key=plan.program.span):
        if (
            isinstance(loop, ast.For)
            and not _counts(plan, loop.iter)
            and draws(plan, loop, {}) | draws(plan, loop.iter, definitions)
        ):
            uses = ("drawn_alike",)
            yield from wrap(plan.program, name, loop.iter, f"{plan.naming('drawn_alike')}(", ")", uses)
        for statement in _beside(plan, loop.body, chain):
            if draws(plan, statement, definitions):
                manager = f"{plan.naming('same_random_numbers')}()"
                yield from within(plan.program, name, statement, manager, ("same_random_numbers",))


def _beside(plan: Plan, block: list[ast.stmt], chain: frozenset[ast.AST]) -> Iterator[ast.stmt]:
    """Statements that do not lead to the step; inner loops speak for themselves."""
    for statement in block:
        if not any(n in chain for n in ast.walk(statement)):
            yield statement
        elif not isinstance(statement, ast.For | ast.While):
            for field in ("body", "orelse", "finalbody"):
                yield from _beside(plan, getattr(statement, field, []), chain)


def _counts(plan: Plan, node: ast.expr) -> bool:
    """Nothing but numbers, or a list that is there already."""
    calls = [n for n in ast.walk(node) if isinstance(n, ast.Call)]
    return bool(calls) and all(plan.program.source(c.func) in COUNTING for c in calls)
