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
