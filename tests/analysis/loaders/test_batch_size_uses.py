"""What a batch size is there for where it is read."""

from __future__ import annotations

import pytest

from nbddp.analysis.loaders import sizes
from tests.analysis.loaders.test_batch_sizes import made


def use(line: str) -> str:
    """Of the last place that reads it."""
    (size,) = sizes(made(line))
    return size.reads[-1].use


@pytest.mark.parametrize(
    ("line", "meaning"),
    [
        ("noise = torch.randn(batch_size, 8)", "shape"),
        ("x = x.view(batch_size, -1)", "shape"),
        ("x = x[:batch_size]", "shape"),
        ("hidden = torch.zeros(2, batch_size, 4)", "shape"),
        ("short = x.size(0) < batch_size", "shape"),
        ("seen = epoch * batch_size", "count"),
        ("steps = 100 // batch_size", "count"),
        ("print(batch_size)", "shown"),
        ("print(f'{batch_size}')", "shown"),
    ],
)
def test_use(line, meaning):
    assert use(line) == meaning
