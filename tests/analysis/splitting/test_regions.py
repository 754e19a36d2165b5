"""The blocks around a step."""

from __future__ import annotations

import ast

from nbddp.analysis.splitting.regions import region_at, regions, scope_of
from tests.analysis.splitting.steps import planned

MADE = planned("x, t = X[step:], y[step:]\nif step:\n    loss = F.mse_loss(model(x), t)", before="rate = 0.1")


def call(name: str) -> ast.Call:
    return next(c for c in MADE.facts.calls if MADE.program.source(c.func) == name)


def test_from_the_innermost_outwards():
    found = list(regions(MADE, None, [call("model")]))
    assert [type(r.owner).__name__ for r in found] == ["If", "For", "Module"]
    assert [r.whole for r in found] == [False, False, True]


def test_only_blocks_that_hold_all_of_the_step():
    found = list(regions(MADE, None, [call("model"), call("loss.backward")]))
    assert [type(r.owner).__name__ for r in found] == ["For", "Module"]
    assert isinstance(found[0].at, ast.If)


def test_what_is_bound_before_the_step():
    inner = region_at(MADE, MADE.program.statement_of(call("model")))
    loop = next(r for r in regions(MADE, None, [call("model"), call("loss.backward")]))
    assert inner.bound_before == frozenset()
    assert loop.bound_before == {"x", "t", "step"}


def test_a_closure_counts_where_it_is_defined():
    made = planned(
        "def closure():\n    loss = F.mse_loss(model(X), y)\n    loss.backward()\n    return loss\nloss = closure()"
    )
    backward = next(iter(c for c in made.facts.backward if made.program.function_of(c)))
    scope, node = scope_of(made, backward)
    assert scope is None
    assert isinstance(node, ast.FunctionDef)
