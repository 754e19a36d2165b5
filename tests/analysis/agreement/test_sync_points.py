"""Code in which all ranks have to take part."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis.agreement import called, meets, reached
from tests.analysis.cells import BEFORE, batch, node, plan

NAMES = """
def step(x, y):
    return F.cross_entropy(model(x), y)

def outer(x, y):
    return step(x, y)

@torch.no_grad()
def look(x):
    return model(x)

def again(k):
    return again(k - 1) if k else 0
"""


def meeting(line: str) -> str | None:
    made = plan(*BEFORE, NAMES, batch(f"if epoch > 1:\n            {line}"))
    branch = next(n for n in ast.walk(made.program.tree) if isinstance(n, ast.If))
    found = meets(made, branch.body)
    return None if found is None else ast.unparse(found)


@pytest.mark.parametrize(
    ("line", "place"),
    [
        ("loss.backward()", "loss.backward()"),
        ("optimizer.step()", "optimizer.step()"),
        ("n = model(x)", "model(x)"),
        ("n = step(x, y)", "model(x)"),
        ("n = outer(x, y)", "model(x)"),
        ("other = next(iter(train_loader))", "next(iter(train_loader))"),
        ("model.load_state_dict(torch.load('m.pt'))", "torch.load('m.pt')"),
    ],
)
def test_where_ranks_meet(line, place):
    assert meeting(line) == place


@pytest.mark.parametrize(
    "line", ["n = loss.item()", "print(epoch)", "n = look(x)", "optimizer.zero_grad()", "n = again(3)"]
)
def test_where_they_do_not(line):
    assert meeting(line) is None


def test_code_of_functions_is_reached_once():
    made = plan(*BEFORE, NAMES, batch("n = outer(x, y), outer(x, y)"))
    statement = made.program.statement_of(node(made, ast.Tuple, "outer(x, y), outer(x, y)"))
    found = [ast.unparse(n) for n in reached(made, [statement]) if isinstance(n, ast.Call)]
    assert found.count("model(x)") == 1


def test_the_bodies_that_a_call_runs():
    made = plan(*BEFORE, NAMES, batch("n = outer(x, y)", "m = len(x)"))
    assert [getattr(f, "name", "") for f in called(made, node(made, ast.Call, "outer(x, y)"))] == ["outer"]
    assert called(made, node(made, ast.Call, "len(x)")) == set()
