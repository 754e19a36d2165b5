"""What a step is given beside its samples: tools, and settings that it goes through one by one."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from nbddp.analysis.reading import Reading
from nbddp.analysis.slicing import all_arguments
from nbddp.analysis.splitting.origins.sizes import TENSORS
from nbddp.analysis.syntax import qualified, walk


def holds_tools(plan: Reading, made: ast.AST) -> bool:
    """`[Flip(), Shift(0.1)]`: written one by one, these are no samples."""
    elements = made.elts if isinstance(made, ast.List | ast.Tuple) else []
    kinds = ("instance", "function", "method", "model", "library")
    return bool(elements) and all(plan.facts.value(e).of(*kinds) for e in elements)


def lists_settings(plan: Reading, place: ast.expr, made: ast.expr) -> bool:
    """`factors = [2.0, 0.5]`, of which no tensor is made where it is read."""
    around = plan.program.parents[place]
    tensor = isinstance(around, ast.Call) and qualified(around.func, plan.flow.imports) in TENSORS
    elements = made.elts if isinstance(made, ast.List | ast.Tuple) and not tensor else []
    return bool(elements) and all(isinstance(e, ast.Constant) for e in elements)


def is_only_gone_through(plan: Reading, given: ast.expr) -> bool:
    """`factors` of `scaled(x, factors)`, which multiplies by one after the other, and gives none of them to a model."""
    call = plan.program.parents[given]
    fact = plan.facts.calls.get(call) if isinstance(call, ast.Call) and given in call.args else None
    bodies = [b for b in fact.bodies if isinstance(b, ast.FunctionDef)] if fact is not None else []
    loops = [loop for body in bodies for loop in _loops_over(plan, body, given)]
    calls = (plan.facts.calls.get(n) for loop in loops for n in walk(loop) if isinstance(n, ast.Call))
    called = (o.kind for fact in calls if fact is not None for o in fact.called)
    changes = loops and all(_changes_an_argument(plan, loop) for loop in loops)  # and gathers nothing for each
    return bool(changes) and not any(kind in ("model", "submodule") for kind in called)


def _changes_an_argument(plan: Reading, loop: ast.For) -> bool:
    """`x = x * factor`, of `def scaled(x, factors)`."""
    function = plan.program.function_of(loop)
    given = {a.arg for a in all_arguments(function.args)} if function is not None else set[str]()
    return any(
        isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store) and n.id in given for s in loop.body for n in walk(s)
    )


def _loops_over(plan: Reading, body: ast.FunctionDef, given: ast.expr) -> Sequence[ast.For]:
    """Of the function; nothing where it reads what it is given in any other way."""
    reads = [n for n in walk(body) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)]
    reads = [n for n in reads if any(one.value is given for one in plan.bindings.of(n))]
    around = [plan.program.parents[n] for n in reads]
    loops = [a for a, n in zip(around, reads, strict=True) if isinstance(a, ast.For) and a.iter is n]
    return loops if len(loops) == len(reads) else []
