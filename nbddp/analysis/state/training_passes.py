"""Which training loops a script goes through, in order, and what names stand for in each: there a state goes in."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from nbddp.analysis.loaders import while_counter
from nbddp.analysis.reading import Reading, items_of, steps_of
from nbddp.analysis.slicing import all_arguments
from nbddp.analysis.syntax import Statement
from nbddp.analysis.values import LoopFact, Value, join_all

DEFINITION = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
LOOPS = ast.For | ast.While | ast.comprehension
DEEPEST = 8  # calls within calls


@dataclass(frozen=True, eq=False)
class Passage:
    """One time that a loop over epochs is gone through; the calls that lead to it, the outermost first."""

    fact: LoopFact
    calls: tuple[ast.Call, ...] = ()


def passages(plan: Reading) -> list[Passage]:
    """Those of the training cell. One that is repeated there stands once: later turns go on from the first."""
    own = [s for s in plan.kept if s.cell.number == plan.training_cell]
    return [passage for statement in own for passage in passages_of(plan, statement)]


def passages_before(plan: Reading) -> list[Passage]:
    """Those of the cells before it. They have been trained already, and the script will skip them."""
    before = [s for s in plan.kept if s.cell.number != plan.training_cell]
    return [passage for statement in before for passage in passages_of(plan, statement)]


def is_repeated(plan: Reading, passage: Passage) -> bool:
    """Is there a loop around it, or around a call that leads to it?"""
    return any(isinstance(a, LOOPS) for node in _nodes(passage) for a in _around(plan, node))


def is_conditional(plan: Reading, passage: Passage) -> bool:
    """May it be left out?"""
    branches = ast.If | ast.IfExp | ast.BoolOp | ast.Match | ast.ExceptHandler
    return any(isinstance(a, branches) for node in _nodes(passage) for a in _around(plan, node))


def _nodes(passage: Passage) -> tuple[ast.AST, ...]:
    return (passage.fact.node, *passage.calls)


def _around(plan: Reading, node: ast.AST) -> Iterator[ast.AST]:
    """Within the function, or the cell."""
    for ancestor in plan.program.ancestors(node):
        if isinstance(ancestor, DEFINITION):
            return
        yield ancestor


def passages_of(plan: Reading, statement: Statement) -> Iterator[Passage]:
    """Those that it leads to."""
    if not isinstance(statement.node, DEFINITION):
        yield from _within(plan, [statement.node], ())


def _within(plan: Reading, nodes: list[ast.AST], calls: tuple[ast.Call, ...]) -> Iterator[Passage]:
    """In the order in which they begin: what a call is given before the call, a loop before what is in it."""
    loops = {fact.node: fact for fact in plan.roles.epoch_loops if _takes_state(plan, fact)}
    for node in nodes:
        if isinstance(node, DEFINITION | ast.Lambda):
            continue
        children = list(ast.iter_child_nodes(node))
        if node in loops:
            yield Passage(loops[node], calls)
        yield from _within(plan, children, calls)
        fact = plan.facts.calls.get(node) if isinstance(node, ast.Call) else None
        for body in sorted(fact.bodies if fact and len(calls) < DEEPEST else (), key=lambda b: getattr(b, "lineno", 0)):
            if fact is not None and not any(fact.node is call for call in calls):
                yield from _within(plan, _body(body), (*calls, fact.node))


def _body(function: ast.AST) -> list[ast.AST]:
    """That of a lambda is one expression."""
    body = getattr(function, "body", [])
    return list(body) if isinstance(body, list) else [body]


def _takes_state(plan: Reading, fact: LoopFact) -> bool:
    """Loops over epochs that the script can start somewhere; others start as the cells do."""
    node = fact.node
    if isinstance(node, ast.While):
        return while_counter(plan.program, node) is not None and not node.orelse
    return isinstance(node, ast.For)


def meaning(plan: Reading, names: Mapping[str, Value], text: str, calls: tuple[ast.Call, ...] = ()) -> Value:
    """What `model` or `self.model` stands for where names mean this, and these calls have led to."""
    name, *steps = steps_of(text)
    value = _name(plan, names, name, calls)
    for step in steps:
        items = [items_of(plan, o) for o in value.of("list", "dict")] if step.startswith("[") else []
        owners = value.of("instance", "model")
        found = (v for (owner, field), v in plan.facts.fields.items() if owner in owners and field == step)
        value = join_all([*found, *(item[step] for item in items if step in item)])
    return value


def _name(plan: Reading, names: Mapping[str, Value], name: str, calls: tuple[ast.Call, ...]) -> Value:
    """An argument means what it means where the function is called; another name what it means in the loop."""
    if not calls:
        return names.get(name) or plan.facts.final.get(name, Value())
    call = calls[-1]
    given = argument(plan, call, name)
    if given is None:
        return names.get(name, Value())
    if isinstance(given, ast.Name) and len(calls) > 1:
        return _name(plan, names, given.id, calls[:-1])
    return plan.facts.value(given)


def argument(plan: Reading, call: ast.Call, name: str) -> ast.expr | None:
    """The expression that a parameter gets; None where it is none, or has its default."""
    for body in plan.facts.calls[call].bodies:
        if not isinstance(body, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        parameters = [a.arg for a in all_arguments(body.args)]
        if isinstance(plan.program.parents.get(body), ast.ClassDef) and isinstance(call.func, ast.Attribute):
            if parameters[:1] == [name]:
                return call.func.value
            parameters = parameters[1:]
        keyword = next((k.value for k in call.keywords if k.arg == name), None)
        if keyword is not None or name not in parameters:
            return keyword
        place = parameters.index(name)
        return call.args[place] if place < len(call.args) else None
    return None
