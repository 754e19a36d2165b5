"""Pieces of a batch, and batches put together."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis.values import PICKED, Extent
from tests.analysis.cells import BEFORE, batch, node, plan, seen

U, S, M, T, V = Extent.UNIFORM, Extent.SAMPLES, Extent.MEAN, Extent.SUM, Extent.VARYING


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("torch.cat([x, x])", S),
        ("torch.cat([x, torch.zeros(1, 8)])", V),
        ("torch.stack([x, x], 1)", S),
        ("x.chunk(2, 1)[0]", S),
    ],
)
def test_extent(source, expected):
    assert seen(source, f"n = [{source}]") is expected


@pytest.mark.parametrize(("source", "picked"), [("x.chunk(2)", True), ("torch.cat([x, x]).chunk(2)", False)])
def test_pieces_of_a_batch_are_some_of_its_samples_and_those_of_two_are_the_two(source, picked):
    made = plan(*BEFORE, batch(f"n = {source}"))
    assert bool(made.facts.value(node(made, ast.Call, source)).of(PICKED)) is picked


COLLATE = """def together(graphs):
    pairs, begin = [], 0
    for nodes, edges in graphs:
        pairs.append({pair})
        begin += len(nodes)
    return torch.cat([nodes for nodes, _ in graphs]), torch.cat(pairs, 1)
loader = DataLoader(graphs, batch_size=4, collate_fn=together)"""


@pytest.mark.parametrize(("pair", "expected"), [("edges", T), ("edges + begin", V), ("edges[:, :1]", T)])
def test_how_many_pairs_a_batch_has_is_no_more_alike_than_its_nodes(pair, expected):
    read = "for x, edges in loader:\n    count = edges.size(1)\n    model(x).mean().backward()\n    optimizer.step()"
    made = plan(
        *BEFORE, "graphs = [(torch.randn(5, 8), torch.randint(0, 5, (2, 9)))] * 8", COLLATE.format(pair=pair), read
    )
    found = made.facts.value(node(made, ast.Call, "edges.size(1)"))
    assert (found.extent, found.size) == (expected, False)
