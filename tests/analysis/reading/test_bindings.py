"""What a value is made of, through names and functions."""

from __future__ import annotations

import ast

import pytest

from tests.analysis.splitting.steps import planned

BEFORE = """
def draw(source, i):
    part = source[i : i + 4]
    return part, part.view(-1)
def stream(source):
    for i in range(3):
        yield source[i:], source.flatten()
table = X.t()
"""


@pytest.mark.parametrize(
    ("lines", "made"),
    [
        ("x, t = draw(table, step)", "part.view(-1)"),
        ("t = draw(table, step)[1]", "draw(table, step)[1]"),
        ("x, t = X[:4], y[:4]", "y[:4]"),
        ("for x, t in stream(X): pass", "source.flatten()"),
        ("u = y.ravel()\nt = u", "y.ravel()"),
    ],
)
def test_what_a_name_comes_from_unchanged(lines, made):
    plan = planned(f"{lines}\nx = X[:4]\nloss = F.mse_loss(model(x), t)", before=BEFORE)
    (read,) = [n for n in plan.nodes() if isinstance(n, ast.Name) and n.id == "t" and isinstance(n.ctx, ast.Load)]
    assert [plan.program.source(n) for n in plan.bindings.made_by(read)] == [made]


def test_everything_that_it_is_made_of():
    plan = planned("x, t = draw(table, step)\nloss = F.mse_loss(model(x), t)", before=BEFORE)
    (read,) = [n for n in plan.nodes() if isinstance(n, ast.Name) and n.id == "t" and isinstance(n.ctx, ast.Load)]
    found = {plan.program.source(n) for n in plan.bindings.made_of(read) if isinstance(n, ast.expr)}
    assert {"X.t()", "source[i : i + 4]", "part.view(-1)"} <= found
