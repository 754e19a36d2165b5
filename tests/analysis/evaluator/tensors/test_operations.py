"""Operators by another name, equations, and patterns that name the dimensions."""

from __future__ import annotations

import pytest

from nbddp.analysis.evaluator import contracted
from nbddp.analysis.evaluator.tensors.operations import axes_of
from nbddp.analysis.values import Extent
from tests.analysis.cells import seen

U, S, M, T, V = Extent.UNIFORM, Extent.SAMPLES, Extent.MEAN, Extent.SUM, Extent.VARYING


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("x.mul(2)", S),
        ("loss.mul(len(x))", T),
        ("loss.add(1)", M),
        ("x.sum().add(1)", V),
        ("loss.div(2)", M),
        ("x.eq(y)", S),
        ("x.eq(y).sum()", T),
        ("torch.einsum('bi,bj->ij', x, x)", T),
        ("torch.einsum('bi,bj->bij', x, x)", S),
        ("torch.einsum('bi,bj', x, x)", T),
        ("torch.einsum('bi,ib->i', x, x.T)", T),
        ("torch.einsum('bi,bj->ib', x, x).sum(1)", T),
        ("torch.einsum('bi,bj->ib', x, x).sum(0)", S),
    ],
)
def test_extent(source, expected):
    assert seen(source, f"n = [{source}]") is expected


@pytest.mark.parametrize(
    ("equation", "found"),
    [
        ("bi,bj->ij", (["b", "b"], "ij")),
        ("bi, bj -> bij", (["b", "b"], "bij")),
        ("bi,ij->bj", (["b", "i"], "bj")),
        ("bi,bj", (["b", "b"], "ij")),
        ("...i,ij->...j", None),
        (None, None),
    ],
)
def test_equations(equation, found):
    assert contracted(equation) == found


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("einops.rearrange(x, 'b c -> c b')", S),
        ("einops.rearrange(x, 'b c -> c b').sum(1)", T),
        ("einops.rearrange(x, 'b c -> c b').sum(0)", S),
        ("einops.rearrange(einops.rearrange(x, 'b c -> c b'), 'c b -> b c').mean(0)", M),
        ("einops.rearrange(x, 'b (p q) -> p q b')", V),
        ("einops.rearrange(x, 'b (p q) -> b p q').mean()", M),
        ("einops.rearrange(x, 'b (p q) -> (b p) q')", S),
        ("einops.rearrange(einops.rearrange(x, 'b (p q) -> (b p) q'), '(b p) q -> b p q').sum(0)", T),
        ("einops.rearrange(x, 'b (p q) -> (p b) q')", V),
        ("einops.rearrange(x, '(two b) c -> two b c', two=2)", V),
        ("einops.rearrange(x, '... c -> c ...').sum(1)", T),
        ("einops.reduce(x, 'b c -> b', 'mean')", S),
        ("einops.reduce(x, 'b c -> c', 'mean')", M),
        ("einops.reduce(x, 'b c -> c', reduction='sum')", T),
        ("einops.reduce(x, 'b c -> c', 'max')", V),
        ("einops.repeat(x, 'b c -> b t c', t=3).sum(1)", S),
        ("einops.repeat(x, 'b c -> t b c', t=3).sum(1)", T),
        ("einops.rearrange(x, pattern)", V),
        ("Rearrange('b c -> c b')(x).sum(1)", T),
        ("Reduce('b c -> c', 'mean')(x)", M),
    ],
)
def test_patterns(source, expected):
    before = "import einops\nfrom einops.layers.torch import Rearrange, Reduce\npattern = input()"
    assert seen(source, f"n = [{source}]", before=before) is expected


def test_axes():
    assert axes_of("b (h  w) … -> b h w ...") == (["b", "h w", "..."], ["b", "h", "w", "..."])
    assert axes_of(None) == ([], [])
