"""Plain values that a training goes on with: the best so far, a history, a count of steps that earlier cells have made.

In the kernel the cell would find them as they are by now. What the training cell itself sets before its loop is none of
these: it is set anew.
"""

from __future__ import annotations

import ast
import collections
from collections.abc import Mapping, Set
from typing import Any

from nbddp.analysis.accumulators import block_of
from nbddp.analysis.carried import carried
from nbddp.analysis.domain import Obj
from nbddp.analysis.loop_starts import own_names
from nbddp.analysis.plan import Plan
from nbddp.analysis.turns import Turn, turn_of
from nbddp.magics.loops import Passage, argument, meaning

FUNCTION = ast.FunctionDef | ast.AsyncFunctionDef
MISSING = object()


def live_values(plan: Plan, passage: Passage, namespace: Mapping[str, Any]) -> dict[str, Any]:
    """By the expression that the loop has for each."""
    found: dict[str, Any] = {}
    for text in carried(plan, passage.fact).values:
        path = _in_cells(plan, text, passage)
        value = MISSING if path is None else _live(namespace, path)
        if value is not MISSING:
            found[text] = list(value) if isinstance(value, collections.deque) else value
    return found


def _in_cells(plan: Plan, text: str, passage: Passage) -> str | None:
    """The same thing, as the cells call it; None where that is not sure, or where it is set on the way to the loop."""
    things = meaning(plan, passage.fact.names, text, passage.calls).objs
    node: ast.AST = passage.fact.node
    for call in (*reversed(passage.calls), None):
        function = plan.program.function_of(node)
        if _is_set(text, things, turn_of(plan, _above(plan, node), function)):
            return None
        if call is None:
            return text if function is None else None
        name, dot, rest = text.partition(".")
        if isinstance(function, FUNCTION) and name in own_names(function):
            given = argument(plan, call, name)
            if not isinstance(given, ast.Name | ast.Attribute):
                return None
            text = f"{ast.unparse(given)}{dot}{rest}"
        node = call
    return None


def _above(plan: Plan, inner: ast.AST) -> list[ast.AST]:
    """What the function around does before, or the training cell."""
    code: list[ast.AST] = []
    while not isinstance(inner, ast.Module | FUNCTION):
        parent = plan.program.parents[inner]
        block = block_of(parent, inner)
        before = block[: block.index(inner)] if isinstance(inner, ast.stmt) and block else []
        code = [*(s for s in before if _is_own(plan, s)), *code]
        inner = parent
    return code


def _is_own(plan: Plan, statement: ast.AST) -> bool:
    in_function = plan.program.function_of(statement) is not None
    return in_function or plan.program.cell_of(statement).number == plan.training_cell


def _is_set(text: str, things: Set[Obj], turn: Turn) -> bool:
    """Or has it got something that the live one may not have? An attribute may be that of any instance."""
    changed = turn.effects.may_bind | turn.grown
    name, *attributes = text.split(".")
    set_there = {turn.attributes[key][1] for key in changed if key in turn.attributes}
    return name in changed or bool(things & turn.filled) or not set_there.isdisjoint(attributes)


def _live(namespace: Mapping[str, Any], path: str) -> Any:
    name, *attributes = path.split(".")
    thing = namespace.get(name, MISSING)
    for attribute in attributes:
        thing = getattr(thing, attribute, MISSING)
    return thing
