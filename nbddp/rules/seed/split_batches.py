"""Batches that all ranks draw alike, beside a step in which each draws its own."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from nbddp.analysis import Plan
from nbddp.analysis.library import entry_of
from nbddp.analysis.reading import Definition, draws, with_what_it_calls
from nbddp.analysis.splitting import (
    chain_of,
    draws_by_share,
    draws_for_all,
    draws_for_part,
    draws_in_step,
    from_its_own,
)
from nbddp.analysis.syntax import walk
from nbddp.analysis.values import CallFact
from nbddp.diagnostics import Diagnostic
from nbddp.edits import Edit, within, wrap
from nbddp.sentence import sentence


def own_streams(plan: Plan, name: str) -> Iterator[Diagnostic]:
    """`rng.normal(size=x.shape)`: a generator of its own is not kept apart from the one that draws the batch."""
    for fact in plan.facts.calls.values():
        if from_its_own(plan, fact) and draws_in_step(plan, fact):
            yield plan.program.diagnose(
                name, "error", fact.node,
                sentence("this draws for the samples of one rank from a generator of its own"),
                why=sentence("of unlike numbers of samples the ranks' generators come apart, and with them what all "
                             "ranks should draw alike"),
                help=sentence("draw it without a generator, or for the whole batch where the batch is drawn"),
            )  # fmt: skip


def alike(plan: Plan, name: str) -> Iterator[Edit | Diagnostic]:
    """Whatever draws in the loops around a step, and is no part of it."""
    chain = chain_of(plan)
    definitions = {s.node.name: s.node for s in plan.kept if isinstance(s.node, Definition)}
    for loop in sorted(_training(plan), key=plan.program.span):
        if (
            isinstance(loop, ast.For)
            and not _counts(plan, loop.iter)
            and draws(plan, loop, {}) | draws(plan, loop.iter, definitions)
        ):
            uses = ("drawn_alike",)
            yield from wrap(plan.program, name, loop.iter, f"{plan.naming('drawn_alike')}(", ")", uses)
    for statement in _beside_steps(plan):
        called = _called(plan, statement, definitions)
        if _draws_for_a_part(plan, statement, called):
            yield from (_both(plan, name, fact.node) for fact in called if draws_for_all(plan, fact))
    for statement in drawn_beside_steps(plan):
        manager = f"{plan.naming('same_random_numbers')}()"
        yield from within(plan.program, name, statement, manager, ("same_random_numbers",))
    for call in sorted(chain, key=plan.program.span):
        yield from _drawn_for(plan, name, call, chain, definitions)


def drawn_beside_steps(plan: Plan) -> list[ast.stmt]:
    """Which draw nothing for the samples of a rank."""
    definitions = {s.node.name: s.node for s in plan.kept if isinstance(s.node, Definition)}
    drawing = (s for s in _beside_steps(plan) if draws(plan, s, definitions))
    return [s for s in drawing if not _draws_for_a_part(plan, s, _called(plan, s, definitions))]


def _draws_for_a_part(plan: Plan, statement: ast.stmt, called: list[CallFact]) -> bool:
    """Right before a batch is cut, all ranks have the whole one: `x, y = with_masks(X[i : i + 10])`."""
    block = plan.program.parents[statement]
    cuts = [s.at for s in plan.assumed.splits if plan.program.parents[s.at] is block]
    whole = any(plan.program.span(statement) < plan.program.span(at) for at in cuts)
    return any((draws_for_part if whole else draws_by_share)(plan, fact) for fact in called)


def _called(plan: Plan, statement: ast.stmt, definitions: Mapping[str, Definition]) -> list[CallFact]:
    return [plan.facts.calls[n] for n in with_what_it_calls(statement, definitions) if n in plan.facts.calls]


def _beside_steps(plan: Plan) -> Iterator[ast.stmt]:
    chain = chain_of(plan)
    loops = sorted(_training(plan), key=plan.program.span)
    bodies = [*(loop.body for loop in loops), *(function.body for function in _steps(plan, chain))]
    yield from (s for body in bodies for s in _beside(plan, body, chain))


def _training(plan: Plan) -> list[ast.For | ast.While]:
    return [f.node for f in plan.facts.loops.values() if f.backward and isinstance(f.node, ast.For | ast.While)]


def _steps(plan: Plan, chain: frozenset[ast.AST]) -> list[ast.FunctionDef]:
    """Functions that draw a batch and train on it, called in a loop: `for i in range(steps): train_step()`."""
    calls = [plan.facts.calls[c] for c in chain if isinstance(c, ast.Call) and c in plan.facts.calls]
    inside = {plan.program.function_of(f.node) for f in calls if f.loops - {*plan.program.ancestors(f.node)}}
    drawn = {plan.program.function_of(s.at) for s in plan.assumed.splits} & inside
    return sorted((f for f in drawn if isinstance(f, ast.FunctionDef)), key=plan.program.span)


def _drawn_for(
    plan: Plan, name: str, call: ast.AST, chain: frozenset[ast.AST], definitions: Mapping[str, Definition]
) -> Iterator[Diagnostic]:
    """`train_step(*get_batch())`: a batch that all ranks should draw alike, in the call that draws dropout."""
    for part in walk(call):
        inside = isinstance(part, ast.Call) and not any(n in chain for n in walk(part))
        if inside and not plan.facts.value(part).varies and draws(plan, part, definitions):
            yield _both(plan, name, part)
            return


def _both(plan: Plan, name: str, drawn: ast.AST) -> Diagnostic:
    return plan.program.diagnose(
        name, "error", drawn,
        sentence("all ranks have to draw this alike, and what gets it draws for each rank's samples"),
        help=sentence("give what is drawn a variable, in a statement of its own before this one"),
    )  # fmt: skip


def _beside(plan: Plan, block: list[ast.stmt], chain: frozenset[ast.AST]) -> Iterator[ast.stmt]:
    """Statements that do not lead to the step; inner loops speak for themselves."""
    for statement in block:
        if not any(n in chain for n in walk(statement)):
            yield statement
        elif not isinstance(statement, ast.For | ast.While):
            for field in ("body", "orelse", "finalbody"):
                yield from _beside(plan, getattr(statement, field, []), chain)


def _counts(plan: Plan, node: ast.expr) -> bool:
    """Nothing but numbers, or a list that is there already."""
    calls = [n for n in walk(node) if isinstance(n, ast.Call)]
    known = (entry_of(c, plan.flow.imports) for c in calls)
    return bool(calls) and all(op.counts or op.gives or op.about for op in known)
