"""What picking leaves of shapes; compared with torch in test_reshaping."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis.values import AsMany
from tests.analysis.cells import BEFORE, TRAINING, plan


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("x[:, :1]", (None, 1)),
        ("x[:, 2:5]", (None, 3)),
        ("x[:, 2:50]", (None, 6)),
        ("x[:, n:]", (None, None)),
        ("x[..., 0, None]", (None, 1)),
        ("x[:, None, 0]", (None, 1)),
        ("x[y == 1]", (None, 8)),
        ("x[y]", (None, 8)),
        ("x[y, y]", (None,)),
        ("x[torch.arange(len(x)), y]", (None,)),
        ("x[torch.arange(len(x)), 0]", (None,)),
        ("x[0]", None),  # a sample: where the others of its batch are, nobody asks
        ("(x, y)[1]", (None,)),
        ("batch[0]", (None, 8)),
        ("x.max(1)[1]", (None,)),
    ],
)
def test_of(source: str, expected: tuple[int | None, ...] | None) -> None:
    loop = TRAINING.replace(
        "for x, y in train_loader:", f"for batch in train_loader:\n        x, y = batch\n        ({source})"
    )
    made = plan(*BEFORE, "n = int(input())", loop)
    (node,) = [n for n in made.program.nodes if isinstance(n, ast.Subscript) and ast.unparse(n) == source]
    shape = made.facts.value(node).shape
    assert (None if isinstance(shape, AsMany) else shape) == expected


@pytest.mark.parametrize(
    ("source", "rank"),
    [
        ('table["price"]', 1),
        ('table[["price", "rooms"]]', 2),
        ("table[names]", 2),
        ('table.drop(columns=["price"]).values', 2),
        ("table.iloc[:, -1].to_numpy()", 1),
        ('table.loc[:, "price"]', 1),
        ("table.iloc[:, :-1].values", 2),
        ('torch.tensor(table["price"].fillna(0).values, dtype=torch.float32)', 1),
        ("torch.from_numpy(train_y.values)", 1),
        ("torch.from_numpy(test_x.values)", 2),
        ("table.price", None),
        ("numbers[:, 0] * 2", 1),
        ("scaler.fit_transform(numbers)", 2),
        ("torch.tensor(targets)", 1),
        ("scaler.fit_transform(targets)", None),  # LabelBinarizer makes columns of such, LabelEncoder does not
        ('pd.concat([table["price"], table["rooms"]])', 1),
        ("pd.concat([table, table])", 2),
        ('table["price"].reset_index()', 2),
        ('table["price"].reset_index(drop=True)', 1),
        ("generator.integers(0, 3, 60)", 1),
        ("generator.poisson(3.0, (60, 2))", 2),
    ],
)
def test_tables_have_rows_and_columns(source: str, rank: int | None) -> None:
    made = plan(
        *BEFORE,
        "import pandas as pd\nfrom sklearn.model_selection import train_test_split\n"
        'names = ["price", "rooms"]\ntable = pd.read_csv("houses.csv")\n'
        'split = train_test_split(table[names], table["price"], test_size=0.2)\n'
        "train_x, test_x, train_y, test_y = split\n"
        "import numpy as np\nfrom sklearn.datasets import make_regression\n"
        "from sklearn.preprocessing import StandardScaler\nscaler = StandardScaler()\n"
        "generator = np.random.default_rng(0)\nnumbers = generator.normal(size=(60, 4))\n"
        "inputs, targets = make_regression(60, 4)",
        TRAINING.replace("optimizer.zero_grad()", f"found = {source}"),
    )
    (node,) = [
        n.value for n in made.program.nodes if isinstance(n, ast.Assign) and ast.unparse(n.targets[0]) == "found"
    ]
    assert made.facts.value(node).rank == rank
