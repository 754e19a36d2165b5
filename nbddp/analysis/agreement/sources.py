"""What a name may be set to, wherever its function or those that call it do that."""

from __future__ import annotations

import ast

from nbddp.analysis.reading import Reading
from nbddp.analysis.slicing import all_arguments, inside


def sources(plan: Reading, name: ast.Name) -> list[ast.AST | None]:
    """Expressions, and loops over them; None for what is not followed."""
    return [value for _, value in settings(plan, name)]


def settings(plan: Reading, name: ast.Name) -> list[tuple[ast.AST, ast.AST | None]]:
    """The same, each with where the name is set to it."""
    function = plan.program.function_of(name)
    stores = (n for n in plan.nodes() if isinstance(n, ast.Name) and n.id == name.id and isinstance(n.ctx, ast.Store))
    home = _home(plan, name)
    own = (n for n in stores if _home(plan, n) is home)
    found: list[tuple[ast.AST, ast.AST | None]] = [(n, _bound_to(plan, n)) for n in own]
    arguments = [a.arg for a in all_arguments(function.args)] if isinstance(function, ast.FunctionDef) else []
    if function is not None and name.id in arguments:
        calls = [c.node for c in plan.facts.calls.values() if function in c.bodies]
        given = [_given(c, name.id, arguments.index(name.id)) for c in calls] or [None]
        found += [(function.args, value) for value in given]
    return found


def _home(plan: Reading, name: ast.Name) -> ast.AST | None:
    """The function whose name it is, also where one inside says `nonlocal`; None for the cells."""
    function = plan.program.function_of(name)
    while function is not None and (said := _says(function, name.id)) is not None:
        function = plan.program.function_of(function) if isinstance(said, ast.Nonlocal) else None
    return function


def _says(function: ast.AST, name: str) -> ast.Global | ast.Nonlocal | None:
    inner = inside(function.body) if isinstance(function, ast.FunctionDef) else ()
    return next((s for s in inner if isinstance(s, ast.Global | ast.Nonlocal) and name in s.names), None)


def _bound_to(plan: Reading, node: ast.AST) -> ast.AST | None:
    """Of `total, count = 0.0, 0` its own part."""
    around = [node, *plan.program.ancestors(node)]
    at = next(i for i, a in enumerate(around) if i and not isinstance(a, ast.Tuple | ast.List))
    match around[at]:
        case ast.For() as loop:
            return loop
        case ast.Assign(value=ast.Tuple(elts=parts)) if at == 2 and len(parts) == len(around[1].elts):  # type: ignore[attr-defined]
            return parts[around[1].elts.index(node)]  # type: ignore[attr-defined]
        case ast.Assign(value=value) | ast.AugAssign(value=value):
            return value
    return None


def _given(call: ast.Call, name: str, place: int) -> ast.AST | None:
    """A method's arguments are not counted: where they stand, no gradient is ruled out."""
    named = next((k.value for k in call.keywords if k.arg == name), None)
    plain = isinstance(call.func, ast.Name) and not any(isinstance(a, ast.Starred) for a in call.args)
    return named or (call.args[place] if plain and place < len(call.args) else None)
