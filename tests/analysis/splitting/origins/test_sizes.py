"""How many samples a batch is written with."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis.splitting.origins.sizes import counted_rows, entries_of_each, known_size, written_size
from tests.analysis.splitting.steps import planned

SOME = "def some(count):\n    return X[torch.randint(len(X), (count,))]\n"


@pytest.mark.parametrize(
    ("drawn", "size"),
    [
        ("torch.randn(32, 4)", "32"),
        ("torch.zeros((32, 4))", "32"),
        ("X[torch.randint(0, len(X), (n,))]", "64"),
        ("X[torch.randint(len(X), (n,))]", "64"),
        ("torch.linspace(0, 1, 50).view(-1, 1).requires_grad_(True)", "50"),
        ("torch.rand(few, 4)", "few"),
        ("torch.tensor(np.random.uniform(0, 1, (7, 4)))", "7"),
        ("torch.rand(9).view(3, 3)", None),
        ("some(24)", "24"),
        ("X[few:]", None),
        ("draw()", None),
    ],
)
def test_as_it_is_written(drawn, size):
    made = planned(
        f"x = {drawn}\nloss = model(x).mean()",
        before=f"{SOME}from drawing import draw, few\nn = 64\nindex = torch.arange(9)",
    )
    node = next(n.value for n in made.nodes() if isinstance(n, ast.Assign) and getattr(n.targets[0], "id", "") == "x")
    assert written_size(made, node) == size
    assert known_size(made, node) == (size if size != "few" else None)


@pytest.mark.parametrize(
    ("picked", "counted"),
    [
        ("out[range(n), t]", [("range(n)", "t")]),
        ("out[np.arange(len(x)), t]", [("np.arange(len(x))", "t")]),
        ("out[torch.arange(n), t.long()]", [("torch.arange(n)", "out")]),
        ("out[rows, t]", [("rows", "t")]),
        ("out[:, 0]", []),
        ("out[range(n), 0]", []),
        ("out[range(1, n), t]", []),
    ],
)
def test_what_counts_the_rows_of_a_batch(picked, counted):
    made = planned(
        f"x, t = draw(n)\nout = model(x)\nloss = {picked}.mean() + F.mse_loss(out, t)",
        before="from drawing import draw, n\nrows = torch.arange(n)",
    )
    for split in made.assumed.splits:
        found = [(made.program.source(a), made.program.source(b)) for a, b in counted_rows(made, split)]
        assert found == counted
    assert made.assumed.splits or not counted


@pytest.mark.parametrize(
    ("size", "each"),
    [
        ("len(x)", ""),
        ("x.shape[0]", ""),
        ("n", ""),
        ("t.numel()", ""),
        ("x.numel()", " * x.shape[1:].numel()"),
        ("all_of_it", None),
        ("rows * columns", None),
    ],
)
def test_by_what_a_size_counts_each_sample(size, each):
    step = "i = torch.randint(0, 100, (16,))\nx, t = X[i], y[i, 0]\nn, (rows, columns) = len(x), x.shape"
    made = planned(
        f"{step}\nall_of_it = x.numel()\nloss = F.mse_loss(model(x)[:, 0], t)\ntotal = loss.item() * ({size})"
    )
    node = next(
        n for n in made.nodes() if isinstance(n, ast.BinOp) and made.program.source(n).startswith("loss.item()")
    )
    assert entries_of_each(made, made.assumed.splits[0], node.right) == each
