"""What of the training cell the kernel does itself, after the training.

Loaders: each process has built its own. What only displays something: the plot of the losses at the cell's end.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Mapping
from typing import Any

from nbddp.analysis import Plan
from nbddp.analysis.library import effect_of
from nbddp.analysis.slicing import effects
from nbddp.analysis.syntax import Statement, walk
from nbddp.magics.handover.definitions import executed


def build_loaders(plan: Plan, namespace: dict[str, Any], names: Iterable[str]) -> list[str]:
    """Those of the names that are loaders, as the cell would have built them here; without what cannot be built."""
    wanted, built = set(names), []
    for statement in _own(plan):
        match statement.node:
            case ast.Assign(targets=[ast.Name(name)], value=ast.Call() as made) if name in wanted:
                if _is_loader(plan, made) and not _missing(plan, statement.node, namespace):
                    built += [name] if not _executed(plan, statement.node, namespace) else []
    return built


def display(plan: Plan, namespace: dict[str, Any]) -> tuple[set[str], str]:
    """Run what only displays something at the cell's end: the names that it binds, and why it failed, if it did."""
    shown: list[Statement] = []
    for statement in _own(plan):
        shown = [*shown, statement] if statement.index in plan.slice.display else []
    bound = {name for s in shown for name in plan.flow.effects[s.index].may_bind}
    if any(_missing(plan, s.node, {**namespace, **dict.fromkeys(bound)}) for s in shown):
        return set(), ""
    return bound, next(filter(None, (_executed(plan, s.node, namespace) for s in shown)), "")


def _own(plan: Plan) -> list[Statement]:
    return [s for s in plan.program.statements if s.cell.number == plan.training_cell]


def _is_loader(plan: Plan, made: ast.Call) -> bool:
    """And nothing else: no function of the cells makes it, and no random number decides what is in it."""
    calls = [plan.facts.calls.get(node) for node in walk(made) if isinstance(node, ast.Call)]
    if any(call is None or call.bodies or any(effect_of(name).draws for name in call.names) for call in calls):
        return False
    return bool(plan.facts.value(made).of("loader"))


def _missing(plan: Plan, node: ast.stmt, namespace: Mapping[str, Any]) -> bool:
    return bool(effects([node], plan.flow.imports).reads - namespace.keys() - vars(builtins).keys())


def _executed(plan: Plan, node: ast.stmt, namespace: dict[str, Any]) -> str:
    """Nothing; or in a sentence, why it failed."""
    error = executed(plan, node, namespace)
    return f"'{ast.unparse(node).splitlines()[0]}' failed in the kernel: {error}" if error else ""
