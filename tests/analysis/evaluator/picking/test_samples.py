"""What is taken out of a batch."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis.values import PICKED, PLACED, Extent
from tests.analysis.cells import BEFORE, batch, node, plan


@pytest.mark.parametrize(
    ("source", "picked"),
    [("x[y == 1]", True), ("x[:16]", True), ("x[0]", False), ("x[:, 0]", False), ("x[:2]", True)],
)
def test_some_of_the_samples_are_told_from_all(source, picked):
    made = plan(*BEFORE, batch(f"n = {source}"))
    assert bool(made.facts.value(node(made, ast.Subscript, source)).of(PICKED)) is picked


@pytest.mark.parametrize(
    ("at", "put", "extent"),
    [
        ("m", "2 * x[m]", Extent.SAMPLES),
        ("m", "2 * x[~m]", Extent.VARYING),
        ("m", "x[m].flip(0)", Extent.VARYING),
        ("m", "0", Extent.SAMPLES),
        ("m, 1", "x[m, 0]", Extent.SAMPLES),
        ("m, 1", "x[~m, 0]", Extent.VARYING),
    ],
)
def test_what_a_mask_picks_may_be_put_back_where_it_was(at, put, extent):
    made = plan(
        *BEFORE, batch("m = x[:, 0] > 0", "z = x[~m]", "out = torch.zeros_like(x)", f"out[{at}] = {put}", "n = out + 0")
    )
    assert made.facts.value(node(made, ast.BinOp, "out + 0")).extent is extent


@pytest.mark.parametrize(("begins", "placed"), [("seen", True), ("0", True), ("epoch", False)])
def test_rows_behind_those_that_a_rank_has_seen_are_of_other_samples(begins, placed):
    made = plan(
        *BEFORE,
        f"""weights = torch.rand(48)
for epoch in range(2):
    seen = 0
    for x, y in train_loader:
        w = weights[{begins} : {begins} + len(y)]
        seen += len(y)
        loss = (F.cross_entropy(model(x), y, reduction="none") * w).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()""",
    )
    found = made.facts.value(node(made, ast.Subscript, f"weights[{begins} : {begins} + len(y)]"))
    assert bool(found.of(PLACED)) is placed
