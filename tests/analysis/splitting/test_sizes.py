"""How many samples a batch is written with."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis.splitting.sizes import known_size, written_size
from tests.analysis.splitting.steps import planned


@pytest.mark.parametrize(
    ("drawn", "size"),
    [
        ("torch.randn(32, 4)", "32"),
        ("torch.zeros((32, 4))", "32"),
        ("X[torch.randint(0, len(X), (n,))]", "64"),
        ("X[torch.randint(len(X), (n,))]", "64"),
        ("torch.linspace(0, 1, 50).view(-1, 1).requires_grad_(True)", "50"),
        ("torch.rand(few, 4)", "few"),
        ("torch.tensor(np.random.uniform(0, 1, (7, 4)))", None),
        ("torch.rand(9).view(3, 3)", None),
        ("X[few:]", None),
        ("draw()", None),
    ],
)
def test_as_it_is_written(drawn, size):
    made = planned(
        f"x = {drawn}\nloss = model(x).mean()", before="from drawing import draw, few\nn = 64\nindex = torch.arange(9)"
    )
    node = next(n.value for n in made.nodes() if isinstance(n, ast.Assign) and getattr(n.targets[0], "id", "") == "x")
    assert written_size(made, node) == size
    assert known_size(made, node) == (size if size != "few" else None)
