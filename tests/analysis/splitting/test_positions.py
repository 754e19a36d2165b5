"""What the labels pick of each sample."""

from __future__ import annotations

import pytest

from nbddp.analysis.splitting.positions import numbered
from tests.analysis.splitting.steps import planned

BEFORE = "labels = (X[:, 0] > 0).long()\nn = len(X)\nhead = nn.Linear(1, 2)\n"
DRAWN = "i = torch.randint(0, n, (8,))\nxb, yb = X[i], labels[i]\nout = model(xb)"


def counts(picked: str) -> list[tuple[str, str]]:
    made = planned(f"{DRAWN}\nloss = -{picked}.mean()", before=BEFORE)
    source = made.program.source
    return [(source(count), source(own)) for split in made.assumed.splits for count, own in numbered(made, split)]


@pytest.mark.parametrize(
    ("picked", "count"),
    [("out[torch.arange(8), yb]", "8"), ("out[range(8), yb]", "8"), ("out[np.arange(len(i)), yb]", "len(i)")],
)
def test_of_each_sample_what_its_label_says(picked, count):
    assert counts(picked) == [(count, "yb")]


@pytest.mark.parametrize(
    "picked", ["out[torch.arange(1, 9), yb]", "out[torch.randperm(8), yb]", "out[torch.arange(8), 0]", "out[:, 0]"]
)
def test_something_else_is_picked(picked):
    assert counts(picked) == []
