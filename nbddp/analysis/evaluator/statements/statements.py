"""Run statements in the abstract, in their order; loops twice, branches side by side."""

from __future__ import annotations

import ast
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from itertools import takewhile
from typing import Any

from nbddp.analysis.evaluator.classes import by_class
from nbddp.analysis.evaluator.expressions import evaluate
from nbddp.analysis.evaluator.iteration import iterate
from nbddp.analysis.evaluator.libraries import narrowed
from nbddp.analysis.evaluator.statements.bindings import (
    assign,
    run_annotated,
    run_assignment,
    run_augmented,
    run_deletion,
    run_import,
)
from nbddp.analysis.evaluator.statements.functions import define_class, define_function, follows_gradients, run_return
from nbddp.analysis.evaluator.statements.loops import run_for, run_while
from nbddp.analysis.syntax import walk
from nbddp.analysis.values import (
    ANYTHING,
    WHOLE,
    Active,
    Extent,
    LoopFact,
    Machine,
    Split,
    Value,
    chosen_by,
    copies,
    decided,
    join,
    join_all,
    join_states,
    jumped,
    restore,
    truth,
)

LOOPS = (ast.For, ast.AsyncFor, ast.While)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
OF_NUMBERS = {"ZeroDivisionError", "ArithmeticError", "IndexError", "KeyError", "LookupError"}
Stops = ast.Return | ast.Raise | ast.Break | ast.Continue


def run_block(m: Machine, body: list[ast.stmt]) -> bool:
    """Run statements; True when the block ends by leaving."""
    around = len(m.loops)
    left = _run_each(m, body)
    del m.loops[around:]
    return left


def _run_each(m: Machine, body: list[ast.stmt]) -> bool:
    for statement in body:
        if not m.tick():
            return False
        with m.arrived():
            left = run_statement(m, statement)
            if isinstance(statement, Stops):
                m.leave(type(statement))
                if m.context.caught or not isinstance(statement, ast.Raise):
                    m.jumps.append((type(statement), copies(m)))
            if left or isinstance(statement, Stops):
                return True
    return False


def _take_part(m: Machine, split: Split, before: ast.stmt) -> None:
    """As `next(loader)` does: what is bound is this rank's samples, and the loops around train on them."""
    if before is split.at:
        for name in split.names:
            old = m.lookup(name) or ANYTHING
            taken = split.samples(name, old)
            m.bind(name, replace(taken, objs=taken.objs | old.of("list")))
        for active in m.loops[-1:]:
            active.fact.divides = True
        if not m.loops and _is_single(m, split):
            m.loops.append(Active(m.facts.loops.setdefault(before, LoopFact(before, m.frame.node)), shares=False))
    if before is split.step:
        for active in m.loops:
            active.draw_next(split.batch)


def _is_single(m: Machine, split: Split) -> bool:
    """A step in no loop of its function, such as the closure of one that repeats it: it is its own loop."""
    around = takewhile(lambda a: not isinstance(a, FUNCTIONS), m.program.ancestors(split.step))
    return not any(isinstance(a, LOOPS) for a in (split.step, *around))


def run_statement(m: Machine, node: ast.stmt) -> bool:
    """True when it leaves the block around it, as a condition does of which the outcome is known."""
    for split in m.assumed.splits:
        _take_part(m, split, node)
    method = _TABLE.get(type(node))
    left = method is not None and method(m, node) is True
    if any(node is s.step and m.loops and m.loops[-1].fact.node is s.at for s in m.assumed.splits if _is_single(m, s)):
        m.loops.pop()
    return left


def _branches(m: Machine, *bodies: list[ast.stmt], test: ast.expr | None = None) -> None:
    """One after the other; the first is where the test holds."""
    before = copies(m)
    ends = []
    for body in bodies:
        restore(m, before)
        if test is not None and body is bodies[0]:
            narrowed(m, test)
        if not run_block(m, body):
            ends.append(copies(m))
    restore(m, join_states(ends) if ends else before)


def _if(m: Machine, node: ast.If) -> bool:
    test = evaluate(m, node.test)
    if (known := truth(test)) is not None:
        return run_block(m, node.body if known else node.orelse)
    with m.within(conditions=m.context.conditions + 1), decided(m, node.test, test):
        _branches(m, node.body, node.orelse, test=node.test)
    return False


def _match(m: Machine, node: ast.Match) -> None:
    subject = evaluate(m, node.subject)
    for case in node.cases:
        for part in walk(case.pattern):
            if isinstance(part, ast.MatchAs | ast.MatchStar) and part.name:
                m.bind(part.name, subject)
    with chosen_by(m, subject):
        _branches(m, *(c.body for c in node.cases), [])


def _try(m: Machine, node: ast.Try) -> None:
    before, m.raised, left, untried = m.raised, ANYTHING, m.left, copies(m)
    with m.within(caught=m.context.caught or bool(node.handlers)):
        run_block(m, node.body)
        run_block(m, node.orelse)
    if node.handlers:  # what it binds may be what it was: `try: net = torch.load(path)`
        restore(m, join_states([untried, copies(m), *jumped(m, ast.Raise)]))
    raised, m.raised = m.raised, before
    errors = {one for one in m.left - left if one.by is ast.Raise and node.handlers}
    m.left -= errors
    for handler in node.handlers:
        with m.arrived(errors), chosen_by(m, _fails_by(m, node.body, handler)):
            if handler.name:
                m.bind(handler.name, raised)
            _branches(m, handler.body, [])
    run_block(m, node.finalbody)


def _fails_by(m: Machine, body: list[ast.stmt], handler: ast.ExceptHandler) -> Value:
    """The numbers by which the error may come to some ranks alone."""
    caught = {n.id for n in walk(handler.type) if isinstance(n, ast.Name)} if handler.type else set()
    found: list[ast.expr] = []
    for node in (n for statement in body for n in walk(statement)) if caught & OF_NUMBERS else ():
        if isinstance(node, ast.Subscript):
            found.append(node.slice)
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div | ast.FloorDiv | ast.Mod):
            found.append(node.right)
    return Value(extent=join_all(v for n in found if (v := m.facts.value(n)).number).extent)


def _with(m: Machine, node: ast.With | ast.AsyncWith) -> None:
    with ExitStack() as around:
        for item in node.items:
            value = evaluate(m, item.context_expr)
            known = follows_gradients(m, item.context_expr, m.context.grad)
            perhaps = m.context.perhaps_grad or known is None
            around.enter_context(m.within(grad=m.context.grad if known is None else known, perhaps_grad=perhaps))
            entered = _entered(m, item, value)
            if item.optional_vars is not None:
                assign(m, item.optional_vars, entered)
            around.callback(by_class, m, value, "exit", [ANYTHING] * 3)
        run_block(m, node.body)


def _entered(m: Machine, item: ast.withitem, value: Value) -> Value:
    """What a block gets of its manager: what `__enter__` gives, or what a generator yields."""
    own = by_class(m, value, "enter", [])
    return iterate(m, value, item.context_expr) if value.of("generator") else value if own is None else own


def _expression(m: Machine, node: ast.Expr) -> None:
    evaluate(m, node.value)


def _raise(m: Machine, node: ast.Raise) -> None:
    if node.exc is None:
        return
    error = evaluate(m, node.exc)
    fact = m.facts.calls.get(node.exc) if isinstance(node.exc, ast.Call) else None
    if fact is not None and any(m.held(v) not in WHOLE for v in fact.args.values()):
        error = replace(error, extent=Extent.VARYING)  # `raise Stop(f"at {loss}")`, which tells it where it is caught
    m.raised = join(m.raised, error)


def _assert(m: Machine, node: ast.Assert) -> None:
    with decided(m, node.test, evaluate(m, node.test)):
        m.leave(ast.Raise)
    m.facts.tests[node.test].caught |= m.context.caught


_TABLE: dict[type[ast.stmt], Callable[[Machine, Any], bool | None]] = {
    ast.Assign: run_assignment,
    ast.AugAssign: run_augmented,
    ast.AnnAssign: run_annotated,
    ast.Delete: run_deletion,
    ast.Import: run_import,
    ast.ImportFrom: run_import,
    ast.FunctionDef: define_function,
    ast.AsyncFunctionDef: define_function,
    ast.ClassDef: define_class,
    ast.Return: run_return,
    ast.If: _if,
    ast.Match: _match,
    ast.Try: _try,
    ast.With: _with,
    ast.AsyncWith: _with,
    ast.For: run_for,
    ast.AsyncFor: run_for,
    ast.While: run_while,
    ast.Expr: _expression,
    ast.Assert: _assert,
    ast.Raise: _raise,
}
