"""What a value is made of, through names and functions."""

from __future__ import annotations

import ast

import pytest

from tests.analysis.cells import BEFORE as CELLS
from tests.analysis.cells import batch, nodes, plan
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


def found(*lines: str, before: str = "pass", name: str = "n") -> list[str | None]:
    made = plan(*CELLS, before, batch(*lines))
    names = [node for node in nodes(made, ast.Name, name) if isinstance(node.ctx, ast.Load)]
    return [None if s is None else ast.unparse(s).split("\n")[0] for s in made.bindings.given(names[-1])]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["n = 1", "n += 2", "print(n)"], ["1", "2"]),
        (["n, other = 1, 2", "print(n)"], ["1"]),
        (["n, other = pair", "print(n)"], ["pair"]),
        (["n: int = 3", "print(n)"], ["3"]),
        (["for n in range(2):", "    print(n)"], ["for n in range(2):"]),
        (["with open('a') as n:", "    print(n)"], ["open('a')"]),
        (["n = 0", "other = [n for n in range(3)]", "print(n)"], ["0"]),
        (["(n, k), other = pair, 2", "print(n)"], ["pair"]),
        (["if (n := len(x)) > 3:", "    print(n)"], ["len(x)"]),
        (["print(n)"], []),
    ],
)
def test_what_a_function_sets_it_to(lines, expected):
    assert found(*lines) == expected


def test_those_who_call_it_set_its_arguments():
    function = "def show(n, m=1):\n    print(n)\n"
    assert found("show(loss)", "show(m=2, n=epoch)", before=function) == ["loss", "epoch"]
    assert found("show(*loss)", before=function) == ["loss"]
    assert found("show(loss)", before=function.replace("print(n)", "print(m)"), name="m") == ["1"]
    assert found("later = show", before=function) == [None]


def test_a_name_of_another_function_is_another():
    assert found("n = 1", "print(n)", before="def other():\n    n = 2\n    return n") == ["1"]


def test_a_function_reads_those_around_it():
    function = "n = 5\ndef other():\n    n = 2\n    return [k for k in map(lambda x: n + x, range(3))]"
    assert found("other()", before=function) == ["2"]
