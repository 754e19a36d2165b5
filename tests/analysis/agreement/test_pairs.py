"""Samples of a batch that are set against each other: a rank sees only those of its share."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis.agreement.pairs import compares_samples
from tests.analysis.cells import BEFORE, batch, node, plan

NAMES = "w = torch.zeros(8, 8)\n"


def compares(text: str) -> bool:
    made = plan(*BEFORE, NAMES, batch(f"n = [{text}]"))
    found = node(made, ast.expr, text)
    assert isinstance(found, ast.BinOp | ast.Call | ast.Compare)
    return compares_samples(made, found)


@pytest.mark.parametrize(
    "text",
    [
        "x @ x.T",
        "torch.mm(x, x.t())",
        "x.matmul(x.T)",
        "torch.cdist(x, x)",
        "x[:, None] - x[None]",
        "x.unsqueeze(1) - x.unsqueeze(0)",
        "y.view(-1, 1) == y.view(1, -1)",
        "y == y.t()",
        "x.roll(1, 0)",
        "torch.flip(x, [0])",
        "torch.einsum('id,jd->ij', x, x)",
        "torch.einsum('id,dj->ij', x, w[:, y])",
        "x @ w[:, y]",
        "F.cosine_similarity(x.unsqueeze(1), x.unsqueeze(0), dim=2)",
        "nn.CosineSimilarity(dim=2)(x[:, None], x[None])",
    ],
)
def test_these_do(text):
    assert compares(text)


@pytest.mark.parametrize(
    "text",
    [
        "x @ w",
        "x.T @ x",
        "x - x.mean()",
        "torch.cdist(x, w)",
        "x[:, None] - w[None]",
        "y.view(-1, 1) == 1",
        "x.roll(1, 1)",
        "torch.flip(x, [1])",
        "torch.einsum('bd,bd->b', x, x)",
        "torch.einsum('bd,db->b', x, w[:, y])",
        "x * w[:, y].T",
        "w @ w.T",
        "F.cosine_similarity(x, x, dim=1)",
        "F.cosine_similarity(x.unsqueeze(1), w.unsqueeze(0), dim=2)",
    ],
)
def test_these_do_not(text):
    assert not compares(text)
