"""Tables, and what each sample has of them."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis.splitting.origins.picked import is_table, picked_by
from tests.analysis.splitting.steps import planned


@pytest.mark.parametrize(
    ("picked", "places"),
    [
        ("torch.gather(table, 0, t)", "t"),
        ("table.index_select(0, t)", "t"),
        ("table.gather(1, t)", None),
        ("torch.take(table, t)", None),
        ("gather(table, 0, t)", None),
    ],
)
def test_by_what_is_picked(picked, places):
    made = planned(f"x, t = X[step:], y[step:]\nh = {picked}\nloss = F.mse_loss(model(x), t)",
                   before="from picking import gather\ntable = torch.ones(9)")  # fmt: skip
    call = next(n for n in made.program.nodes if isinstance(n, ast.Call) and made.program.source(n) == picked)
    found = picked_by(made, call)
    assert (found and made.program.source(found)) == places


@pytest.mark.parametrize(
    ("body", "table"),
    [
        ("return table.gather(0, t.to(table.device))", True),
        ("return torch.gather(table, 0, t)", True),
        ("return torch.gather(table, 0, t) + table", False),
        ("return t", False),
    ],
)
def test_what_a_function_only_picks_from(body, table):
    made = planned("x, t = X[step:], y[step:]\nh = of(table, t)\nloss = F.mse_loss(model(x) * h, t)",
                   before=f"table = torch.ones(9)\ndef of(table, t):\n    {body}")  # fmt: skip
    call = next(c for c in made.facts.calls if made.program.source(c) == "of(table, t)")
    assert [is_table(made, call, given) for given in call.args] == [table, False]
