"""Where a step only looks at its samples: each rank has all of them there, whatever is done with them."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis import Plan, planned, read
from nbddp.options import Options
from tests.analysis.cells import notebook
from tests.analysis.splitting.steps import DATA

STEP = "out = model(X)\nloss = F.mse_loss(out, y)\noptimizer.zero_grad()\nloss.backward()\noptimizer.step()\n"


def looking(lines: str, *, apart: bool = True) -> Plan:
    body = "".join(f"    {line}\n" for line in f"{STEP}{lines}".strip().split("\n"))
    cell = f"{DATA}\nfor step in range(9):\n{body}print(loss.item())\n"
    return planned(read(notebook(cell), Options()), apart=apart)


def wholes(made: Plan) -> list[str]:
    """The statements of the loop that read all of the data."""
    (split,) = made.assumed.splits
    (loop,) = (n for n in made.program.nodes if isinstance(n, ast.For))
    names = [n for n in ast.walk(loop) if isinstance(n, ast.Name) and n.id in ("X", "y")]
    left = [n for n in names if n.id not in split.names and n not in split.renamed]
    return sorted({made.program.source(made.program.statement_of(n)) for n in left})


@pytest.mark.parametrize(
    ("lines", "whole"),
    [
        ("u = model(X)\nu = u.reshape(10, -1).T\nprint(u.max())", ["u = model(X)"]),
        ("with torch.no_grad():\n    u = model(X)\n    print((u - y).abs().median())",
         ["print((u - y).abs().median())", "u = model(X)"]),
        ("print(loss.item())", []),
        ("print((out - y).abs().max())\nprint(model(X).max())", ["print(model(X).max())"]),  # `out` is of a part
        ("print(X.grad)\nprint(y.max())", ["print(y.max())"]),  # which only the part has
        ("worst = model(X).max()\nif worst > 2:\n    print(X)", ["print(X)", "worst = model(X).max()"]),
        ("center = model(X).max()\nout = out - center", []),  # what the loss is made of has the name, too
    ],
)  # fmt: skip
def test_what_is_only_looked_at(lines: str, whole: list[str]) -> None:
    assert wholes(looking(lines)) == whole


def test_it_has_parts_where_nobody_asks_for_more() -> None:
    assert wholes(looking("u = model(X)\nprint(u.max())", apart=False)) == []
