"""How each call that writes is left to rank 0, and what of it the other ranks run along."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from nbddp.analysis.agreement import is_meeting, outlets, reached
from nbddp.analysis.disk.preparation import Preparation
from nbddp.analysis.library import effect_of, entry_of
from nbddp.analysis.models import is_of_state
from nbddp.analysis.reading import Reading, opens_to_write, path_of, writes
from nbddp.analysis.slicing import root_name
from nbddp.analysis.syntax import walk

# The statement under an `if`; the path of other ranks leads nowhere; the function of other ranks does nothing.
Form = Literal["guard", "nowhere", "silent"]


@dataclass(frozen=True, eq=False)
class Writing:
    forms: Mapping[ast.Call, Form]
    once: Mapping[ast.Call, Form]  # in what all ranks prepare: one rank of each machine writes
    guarded: frozenset[ast.stmt]


def find_writing(plan: Reading, preparation: Preparation) -> Writing:
    numbers = {o.node for o in outlets(plan) if o.way}
    forms: dict[ast.Call, Form] = {}
    once: dict[ast.Call, Form] = {}
    guarded: set[ast.stmt] = set()
    for node in plan.nodes():
        repeats = isinstance(node, ast.Call) and preparation.repeats(plan, node)
        if not isinstance(node, ast.Call) or (preparation.covers(plan, node) and not repeats):
            continue
        opens = opens_to_write(plan, node)
        if not (opens or writes(plan, node)) or any(a in guarded for a in plan.program.ancestors(node)):
            continue
        statement = plan.program.statement_of(node)
        apart = _stands_for_itself(statement, node, opens) and not _concerns_all(plan, statement, numbers)
        if apart and not (repeats and (statement in preparation.first or _draws(plan, statement))):
            form: Form = "guard"
            guarded.add(statement)
        else:
            form = "nowhere" if opens and path_of(node) is not None else "silent"
        (once if repeats else forms)[node] = form
    return Writing(forms, once, frozenset(guarded))


def _draws(plan: Reading, statement: ast.stmt) -> bool:
    """Random numbers, which all ranks draw alike."""
    named = (n for n in reached(plan, [statement]) if isinstance(n, ast.Attribute | ast.Name))
    return any(entry_of(n, plan.flow.imports).draws for n in named)


def _stands_for_itself(statement: ast.stmt, call: ast.Call, opens: bool) -> bool:
    """`torch.save(…)`, or `with open(…) as f:` and its block."""
    if opens:
        return isinstance(statement, ast.With) and any(i.context_expr is call for i in statement.items)
    return isinstance(statement, ast.Expr)


def _concerns_all(plan: Reading, statement: ast.stmt, numbers: set[ast.expr]) -> bool:
    """Do the ranks meet inside, or are numbers put together there? Is something bound that others need?

    The whole state of a sharded model is asked for before it.
    """
    ahead = {*walk(statement)} if _on_lines_of_its_own(plan, statement) else set()
    together = (n for n in reached(plan, [statement]) if not (n in ahead and is_of_state(plan, n)))
    if any(n in numbers or is_meeting(plan, n) for n in together):
        return True
    files = {o.id for i in getattr(statement, "items", []) for o in walk(i) if isinstance(o, ast.Name)}
    return any(_leaves_something(plan, n, files) for n in walk(statement))


def _on_lines_of_its_own(plan: Reading, statement: ast.stmt) -> bool:
    """Can a statement stand before it?"""
    line = plan.program.line_starts[statement.lineno - 1]
    return plan.options.shard is True and not plan.program.text[line : plan.program.span(statement)[0]].strip()


def _leaves_something(plan: Reading, node: ast.AST, files: set[str]) -> bool:
    """Does it leave something behind that other ranks need as well?"""
    if isinstance(node, ast.Name | ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store):
        return not (isinstance(node, ast.Name) and node.id in files)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not writes(plan, node):
        root = root_name(node.func) or ""
        known = root in files or root in plan.flow.imports or effect_of(f".{node.func.attr}").reads
        return bool(root) and not known
    return isinstance(node, ast.Return | ast.Break | ast.Continue | ast.Raise)
