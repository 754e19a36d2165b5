"""How what parts of a batch give is put together: a wrong way is another loss."""

from __future__ import annotations

import pytest
import torch

from nbddp.inkernel.joining import how_joined, joined

X = torch.arange(12.0).reshape(6, 2)
COUNTS = [4, 2]
PARTS = [X[:4], X[4:]]


@pytest.mark.parametrize(
    ("function", "how"),
    [
        (lambda x: x * 2, 0),
        (lambda x: x.T, 1),
        (lambda x: x.mean(), "mean"),
        (lambda x: x.sum(), "sum"),
        (lambda x: x.mean(0), "mean"),
        (lambda _x: "text", "same"),
        (lambda _x: torch.tensor(3), "same"),
        (lambda x: (x > 3).sum(), "sum"),
        (lambda x: x.mean().item(), "mean"),
        (lambda x: x.sum() * 0, "open"),
        (lambda x: x.max(), "no"),
        (lambda x: x - x.mean(0), "no"),
        (len, "no"),
        (lambda x: x.std(), "no"),
    ],
)
def test_how(function, how):
    assert how_joined(function(X), [function(p) for p in PARTS], COUNTS) == how


@pytest.mark.parametrize("function", [lambda x: x * 2, lambda x: x.T, lambda x: x.mean(), lambda x: x.sum()])
def test_joined_it_is_what_the_whole_gives(function):
    parts = [function(p) for p in PARTS]
    how = how_joined(function(X), parts, COUNTS)
    assert torch.allclose(joined(how, parts, COUNTS), function(X))


def test_a_mean_counts_the_samples_of_each_part():
    assert joined("mean", [torch.tensor(1.0), torch.tensor(4.0)], COUNTS).item() == pytest.approx(2.0)
