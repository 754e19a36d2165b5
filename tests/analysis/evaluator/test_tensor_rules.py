"""What sets samples against each other, and what treats each for itself."""

from __future__ import annotations

import pytest

from nbddp.analysis.evaluator.tensor_rules import contracted
from nbddp.analysis.values import Extent
from tests.analysis.cells import seen

S, T, V = Extent.SAMPLES, Extent.SUM, Extent.VARYING


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("x.std()", V),
        ("x.std(dim=1)", S),
        ("x.max(dim=0)", V),
        ("x.argmax(dim=-1)", S),
        ("x.norm()", V),
        ("x.norm(2, 1)", S),
        ("x.topk(3)", V),
        ("x.topk(1)", S),
        ("x.topk(3, dim=1)", S),
        ("x.sort(0)", V),
        ("x.sort(1)", S),
        ("x.cumsum(0)", V),
        ("x.cumsum(1)", S),
        ("x.logsumexp(0)", V),
        ("x.logsumexp(1)", S),
        ("x.dot(y)", V),
        ("x.t().mm(x)", T),
        ("x.mm(w)", S),
        ("x.transpose(0, 1).matmul(x)", T),
        ("x.transpose(1, 2)", S),
        ("torch.einsum('bi,bj->ij', x, x)", T),
        ("torch.einsum('bi,bj->bij', x, x)", S),
        ("torch.softmax(x, 0).sum()", V),
        ("torch.softmax(x, 1).sum()", T),
        ("torch.cumsum(x, 0)", V),
        ("torch.masked_select(x, y > 0)", S),
        # by which dimension
        ("x.sum()", T),
        ("x.sum(0)", T),
        ("x.sum(1)", S),
        ("x.sum(dim=-1)", S),
        ("x.sum(axis=0)", T),
        ("x.sum((0, 2))", T),
        ("x.sum((1, 2))", S),
        ("x.sum(-2)", V),
        ("x.mean(dim=-2)", V),
        ("x.std(-2)", V),
        ("x.amax(-2)", V),
        ("x.sort(-2)", V),
        ("x.cumsum(-2)", V),
        ("x.logsumexp(-2)", V),
        ("torch.nn.functional.normalize(x)", S),
        ("torch.nn.functional.normalize(x, 2, 0)", V),
        ("torch.nn.functional.normalize(x, dim=-2)", V),
        ("torch.softmax(x, -2).sum()", V),
        ("torch.nn.Softmax(dim=0)(x).sum()", V),
        ("torch.nn.Softmax(dim=1)(x).sum()", T),
        ("np.mean(x.numpy(), axis=-2)", V),
        ("np.average(x.numpy(), weights=y.numpy())", V),
        # of one dimension
        ("x.view(-1).sum(-1)", T),
        ("x.flatten().std(-1)", V),
        ("x[:, 0].std(-1)", V),
        ("x.squeeze().cumsum(-1)", V),
        ("torch.nn.functional.softmax(x[:, 0]).sum()", V),
        ("torch.nn.functional.softmax(x).sum()", T),
        ("(x[:, 0] * 2)[:, None].softmax(-1).sum()", T),
        # turned
        ("x.permute(1, 0).mean(1)", Extent.MEAN),
        ("x.movedim(0, 1).sum(1)", T),
        ("torch.einsum('bi,bj', x, x)", T),
    ],
)
def test_extent(call, expected):
    assert seen(call, f"n = {call}", before="import numpy as np\nw = torch.zeros(8, 8)") is expected


@pytest.mark.parametrize(
    ("equation", "found"),
    [
        ("bi,bj->ij", (["b", "b"], True)),
        ("bi, bj -> bij", (["b", "b"], False)),
        ("bi,ij->bj", (["b", "i"], False)),
        ("bi,bj", (["b", "b"], True)),
        ("...i,ij->...j", None),
        (None, None),
    ],
)
def test_equations(equation, found):
    assert contracted(equation) == found


def test_of_numbers_that_all_ranks_have_nothing_is_set_against_each_other():
    assert seen("w.max()", "n = w.max()", before="w = torch.zeros(8)") is Extent.UNIFORM
    assert seen("w.topk(3)", "n = w.topk(3)", before="w = torch.zeros(8)") is Extent.UNIFORM
