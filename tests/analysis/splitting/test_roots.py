"""From what a model is given back to the batch."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis.splitting.regions import region_at
from nbddp.analysis.splitting.roots import base_of, computed_index, is_data, roots
from tests.analysis.splitting.steps import cut, planned

DRAWN = "x, t = X[step:], y[step:]\ni = torch.randint(0, 9, (4,))\npair = drawing.draw()"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("x", ["x"]),
        ("x.view(-1, 4).to('cpu')", ["x"]),
        ("torch.cat([x, t], 1)", ["x", "t"]),
        ("x * rate + 1", ["x"]),
        ("X[i]", ["i"]),
        ("X[i][:, :2]", ["i"]),
        ("X[step:step + 4]", ["X[step:step + 4]"]),
        ("X[step]", ["X[step] alone"]),
        ("pair[0]", ["pair[0]"]),
        ("torch.zeros(len(x), 4)", []),
    ],
)
def test_what_an_expression_is_made_of(given, expected):
    made = planned(
        f"{DRAWN}\nloss = F.mse_loss(model({given}), t)",
        before="import drawing\nrate = 0.5",
    )
    call = next(c for c in made.facts.calls if made.program.source(c.func) == "model")
    region = region_at(made, made.program.statement_of(call))
    found = [made.program.source(r.node) + " alone" * r.one for r in roots(region, call.args[0])]
    assert found == expected


@pytest.mark.parametrize(
    ("bound", "expected"),
    [
        ("h = x\nh = t", ["t"]),
        ("h = x\nif step:\n    h = t", ["x", "t"]),
        ("h = x\nif step:\n    h = t\nelse:\n    h = x * h", ["x", "t"]),
    ],
)
def test_a_name_is_what_it_was_bound_to_last(bound, expected):
    made = planned(f"x, t = X[step:], y[step:]\n{bound}\nloss = F.mse_loss(model(h), t)")
    call = next(c for c in made.facts.calls if made.program.source(c.func) == "model")
    first = next(n for n in made.nodes() if isinstance(n, ast.Assign) and made.program.source(n) == "h = x")
    found = [made.program.source(r.node) for r in roots(region_at(made, first), call.args[0])]
    assert [*dict.fromkeys(found)] == expected


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("torch.zeros(len(x), 1)", True),
        ("torch.zeros(len(x), 1) + 1", True),
        ("torch.FloatTensor(len(x), 1).fill_(1.0)", True),
        ("torch.ones(len(x), 1).zero_()", True),
        ("1.0", False),
        ("1 + 0", False),
        ("'x'", False),
        ("True", False),
    ],
)
def test_a_tensor_whose_number_is_known_may_hold_samples_and_a_number_does_not(given, expected):
    made = planned(f"x, t = X[step:], y[step:]\nh = {given}\nprint(h)\nloss = F.mse_loss(model(x), t)")
    read = next(n for n in made.nodes() if isinstance(n, ast.Name) and n.id == "h" and isinstance(n.ctx, ast.Load))
    assert is_data(made, read) is expected


def test_what_a_comprehension_goes_through_whatever_else_has_its_name():
    made = planned("x, t = X[step:], y[step:]\nh = torch.stack([p * 2 for p in x])\nloss = F.mse_loss(model(h), t)",
                   before="p = torch.randn(9)")  # fmt: skip
    call = next(c for c in made.facts.calls if made.program.source(c.func) == "model")
    region = region_at(made, next(n for n in made.nodes() if isinstance(n, ast.Assign) and n.lineno > 12))
    assert {made.program.source(r.node) for r in roots(region, call.args[0])} == {"X[step:]"}


def test_places():
    made = planned("loss = F.mse_loss(model(X['a'][step].b), y)")
    call = next(c for c in made.facts.calls if made.program.source(c.func) == "model")
    assert made.program.source(base_of(call.args[0])) == "X"
    assert made.program.source(computed_index(call.args[0])) == "step"


def test_what_is_made_of_the_same_again_and_again_is_followed_once():
    steps = "\n".join(f"x = torch.cat([x, x]) * x + x[:, :{number}]" for number in range(1, 40))
    made = planned(f"x = X[step:]\n{steps}\nloss = model(x).mean()")
    call = next(c for c in made.facts.calls if made.program.source(c.func) == "model")
    region = region_at(made, made.program.statement_of(call))
    assert [made.program.source(r.node) for r in roots(region, call.args[0])][:1] == ["x"]


def test_what_decides_is_no_batch():
    lines = "x, t = X[step:], y[step:]\nloss = F.mse_loss(model(x + (torch.randn(16, 4) if step % 2 else 0.0)), t)"
    assert "step" not in cut(planned(lines))
