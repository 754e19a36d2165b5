"""Noise for the parameters themselves, which a step draws: the same on all ranks, or these come to different models."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Set

from nbddp.analysis import Plan
from nbddp.analysis.library import effect_of
from nbddp.analysis.reading import Definition, with_what_it_calls
from nbddp.analysis.syntax import walk
from nbddp.analysis.values import DRAWN, CallFact, of_weights
from nbddp.edits import Edit, within


def drawn_for_models(plan: Plan, name: str, alike: Set[ast.AST]) -> Iterator[Edit]:
    """Not what is drawn alike already."""
    manager, uses = f"{plan.naming('same_random_numbers')}()", ("same_random_numbers",)
    found = {*draws_for_models(plan), *in_forward(plan)}
    for statement in sorted(found, key=plan.program.span):
        if statement not in alike and found.isdisjoint(plan.program.ancestors(statement)):
            yield from within(plan.program, name, statement, manager, uses)


def draws_for_models(plan: Plan) -> list[ast.stmt]:
    """`p.add_(torch.randn_like(p))`, also through a name."""
    definitions = {s.node.name: s.node for s in plan.kept if isinstance(s.node, Definition)}
    found = {s for target in plan.facts.moved for s in _drawing(plan, target)}
    outermost = [s for s in found if found.isdisjoint(plan.program.ancestors(s))]
    drawing = (s for s in outermost if any(_draws(plan, n) for n in with_what_it_calls(s, definitions)))
    return sorted(drawing, key=plan.program.span)


def _drawing(plan: Plan, target: ast.AST) -> Iterator[ast.stmt]:
    """The loop over parameters in which one is changed, or the statement; and where what it reads was drawn."""
    at = plan.program.statement_of(target)
    yield _widest(plan, at)
    for node in (n for read in ast.iter_child_nodes(at) for n in plan.bindings.made_of(read)):
        fact = plan.facts.calls.get(node) if isinstance(node, ast.Call) and _draws(plan, node) else None
        if fact is None or fact.varying_control or not fact.loops & {f.node for f in plan.roles.batch_loops}:
            continue
        value = plan.facts.value(fact.node)
        if value.of(DRAWN) or not value.varies:  # and not noise for each sample, from which a loss comes
            yield _widest(plan, plan.program.statement_of(node))


def in_forward(plan: Plan) -> Iterator[ast.stmt]:
    """`weights + torch.randn_like(weights)` in a model: one noise for all samples of a step."""
    for fact in plan.facts.calls.values():
        if fact.ever_in_forward and not fact.varying_control and _draws(plan, fact.node) and like_weights(plan, fact):
            yield plan.program.statement_of(fact.node)


def like_weights(plan: Plan, draw: CallFact) -> bool:
    """`torch.randn_like(self.mean)`, `normal.sample(layer.weight.size())`: as many numbers as there are weights."""
    given = (plan.facts.value(a) for a in (*draw.node.args, *(k.value for k in draw.node.keywords)))
    return any(map(of_weights, given)) and not plan.facts.value(draw.node).varies


def _widest(plan: Plan, statement: ast.stmt) -> ast.stmt:
    around = plan.program.parents.get(statement)
    trains = {f.node for f in plan.roles.batch_loops + plan.roles.epoch_loops}
    if isinstance(around, ast.For) and around not in trains and not plan.facts.backward & {*walk(around)}:
        return _widest(plan, around)
    return statement


def _draws(plan: Plan, node: ast.AST) -> bool:
    fact = plan.facts.calls.get(node) if isinstance(node, ast.Call) else None
    if fact is None:
        return False
    word = [f".{fact.node.func.attr}"] if isinstance(fact.node.func, ast.Attribute) and not fact.bodies else []
    return any(effect_of(name).draws for name in (*fact.names, *word))
