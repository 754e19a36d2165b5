"""The name that the cells have for what a loop calls by another, where that is sure."""

from __future__ import annotations

import ast
from collections.abc import Set

from nbddp.analysis.reading import Reading
from nbddp.analysis.slicing import block_of
from nbddp.analysis.state.iteration_effects import Turn, turn_of
from nbddp.analysis.state.loop_entry import own_names
from nbddp.analysis.state.training_passes import Passage, argument, meaning
from nbddp.analysis.values import Obj

FUNCTION = ast.FunctionDef | ast.AsyncFunctionDef


def name_in_cells(plan: Reading, text: str, passage: Passage) -> str | None:
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


def _above(plan: Reading, inner: ast.AST) -> list[ast.AST]:
    """What the function around does before, or the training cell."""
    code: list[ast.AST] = []
    while not isinstance(inner, ast.Module | FUNCTION):
        parent = plan.program.parents[inner]
        block = block_of(parent, inner)
        before = block[: block.index(inner)] if isinstance(inner, ast.stmt) and block else []
        code = [*(s for s in before if _is_own(plan, s)), *code]
        inner = parent
    return code


def _is_own(plan: Reading, statement: ast.AST) -> bool:
    in_function = plan.program.function_of(statement) is not None
    return in_function or plan.program.cell_of(statement).number == plan.training_cell


def _is_set(text: str, things: Set[Obj], turn: Turn) -> bool:
    """Or has it got something that the live one may not have? An attribute may be that of any instance."""
    changed = turn.effects.may_bind | turn.grown
    name, *attributes = text.split(".")
    set_there = {turn.attributes[key][1] for key in changed if key in turn.attributes}
    return name in changed or bool(things & turn.filled) or not set_there.isdisjoint(attributes)
