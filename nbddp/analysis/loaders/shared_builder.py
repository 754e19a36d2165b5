"""Loaders that one function builds for the training and for evaluations: it is told when to share one out."""

from __future__ import annotations

import ast

from nbddp.analysis.loaders.loader_calls import LoaderCall
from nbddp.analysis.reading import Reading
from nbddp.analysis.values import Obj


def can_be_asked(plan: Reading, obj: Obj, call: LoaderCall) -> ast.FunctionDef | None:
    """The function, such as a generator of batches, whose call for the training can carry one more argument."""
    function = plan.program.function_of(obj.node)
    site = obj.site
    if not isinstance(function, ast.FunctionDef) or not isinstance(site, ast.Call) or not _has_a_name(call):
        return None
    if function.args.kwarg or function.decorator_list or any(k.arg is None for k in site.keywords):
        return None
    fact = plan.facts.calls.get(site)
    direct = fact is not None and fact.bodies == {function} and isinstance(site.func, ast.Name | ast.Attribute)
    return function if direct else None


def _has_a_name(call: LoaderCall) -> bool:
    """`loader = DataLoader(…)`: a line of its own can stand behind it."""
    statement = call.statement
    return isinstance(statement, ast.Assign) and statement.value is call.node and call.name is not None


def end_of_parameters(function: ast.FunctionDef) -> ast.expr | ast.arg | None:
    """What the list of a function's parameters ends with; None where it is empty."""
    given = function.args
    parts: list[ast.expr | ast.arg] = [*given.posonlyargs, *given.args, *given.kwonlyargs, *given.defaults]
    parts += [d for d in given.kw_defaults if d is not None]
    parts += [given.vararg] if given.vararg else []
    return max(parts, key=lambda part: (part.end_lineno or 0, part.end_col_offset or 0), default=None)
