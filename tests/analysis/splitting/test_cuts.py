"""What each turn makes of the turn before must stay whole."""

from __future__ import annotations

import pytest

from tests.analysis.cells import IMPORTS, MODEL, plan
from tests.analysis.splitting.steps import cut, planned

DATA = "X, y = torch.randn(64, 8), torch.randn(64, 2)"
STEP = """    loss = F.mse_loss(model(X), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def names(before: str, after: str = "") -> tuple[str, ...]:
    """Those that hold a rank's samples once they have been dealt out."""
    made = plan(IMPORTS, DATA, MODEL, f"for epoch in range(3):\n{before}{STEP}{after}")
    return made.assumed.splits[0].names


@pytest.mark.parametrize(
    "before",
    [
        "    X, y = X.to('cpu'), y.to('cpu')\n",
        "    X = X[torch.randperm(64)]\n",
        "    X = X + 0.1 * torch.randn_like(X)\n",
        "    X += 0.1 * torch.randn_like(X)\n",
        "    if epoch % 2 == 0:\n        X = torch.randn(64, 8)\n",
        "    moved = X.to('cpu')\n    X = moved.float()\n",
    ],
)
def test_what_a_turn_makes_of_the_last_keeps_its_name(before):
    assert "X" not in names(before)


@pytest.mark.parametrize("after", ["    X = X[torch.randperm(64)]\n", "    moved = X\n    X = moved.float()\n"])
def test_what_a_turn_leaves_for_the_next_is_made_of_all(after):
    made = plan(IMPORTS, DATA, MODEL, f"for epoch in range(3):\n{STEP}{after}")
    split = made.assumed.splits[0]
    assert (split.names, split.renamed) == ((), {})
    assert {made.program.place(node.lineno)[1] for node in split.inline} == {2}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("    X, y = torch.randn(64, 8), torch.randn(64, 2)\n", ""),
        ("    X = torch.randn(64, 8)\n    X = X.float()\n    y = X[:, :2]\n", ""),
    ],
)
def test_what_a_turn_draws_is_its_own(before, after):
    assert "X" in names(before, after)


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("x = X.to('cpu')\nloss = ((model(x) - y) ** 2).mean()", ["x", "y_part"]),
        ("x = X + 0.1\nloss = ((model(x) - X[:, :1]) ** 2).mean()", ["x", "X_part"]),
        ("x = X[torch.randint(0, 100, (16,))]\nloss = ((model(x) - y[0]) ** 2).mean()", ["x"]),
        ("x = X[step:]\nloss = ((model(x) - y.mean(0)) ** 2).mean()", ["x"]),
    ],
)
def test_all_of_the_data_by_another_name_meets_the_rows_beside_it(lines, expected):
    assert cut(planned(lines)) == expected


@pytest.mark.parametrize(
    ("read", "by_name"), [("torch.autograd.grad(out.sum(), X, create_graph=True)[0]", True), ("X", False)]
)
def test_what_is_derived_by_is_what_the_model_was_given(read, by_name):
    step = f"""def fit(model):
    for epoch in range(3):
        out = model(X)
        loss = (out - y).pow(2).mean() + ({read}).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
    (split,) = plan(IMPORTS, f"{DATA}\nX.requires_grad_()", MODEL, f"{step}fit(model)").assumed.splits
    assert ("X_part" in split.renamed.values()) is by_name
