"""What sets samples against each other, and what treats each for itself."""

from __future__ import annotations

import pytest

from nbddp.analysis.evaluator.tensor_rules import contracted, each_for_itself, over_samples
from nbddp.analysis.values import ANYTHING, Extent, Value
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
    ],
)
def test_extent(call, expected):
    assert seen(call, f"n = {call}", before="w = torch.zeros(8, 8)") is expected


@pytest.mark.parametrize(
    ("args", "keywords", "yes"),
    [
        ((), {}, True),
        ((0,), {}, True),
        ((1,), {}, False),
        ((), {"dim": -1}, False),
        ((), {"axis": 0}, True),
        (((0, 2),), {}, True),
        (((1, 2),), {}, False),
    ],
)
def test_whether_the_dimension_of_the_samples_is_gone_through(args, keywords, yes):
    def of(dim: object) -> Value:
        return Value(items=tuple(Value(const=d) for d in dim)) if isinstance(dim, tuple) else Value(const=dim)

    assert over_samples([of(a) for a in args], {k: of(v) for k, v in keywords.items()}) is yes


@pytest.mark.parametrize(
    ("word", "args", "yes"),
    [("max", [], False), ("max", [1], True), ("max", [0], False), ("norm", [2], False), ("norm", [2, 1], True),
     ("topk", [1], True), ("topk", [5], False), ("cumsum", [], False), ("normalize", [], True),
     ("normalize", [2, 0], False)],
)  # fmt: skip
def test_whether_a_samples_result_is_of_this_sample_alone(word, args, yes):
    assert each_for_itself(word, [Value(const=a) for a in args], {}) is yes


@pytest.mark.parametrize(
    ("equation", "found"),
    [
        ("bi,bj->ij", (["b", "b"], True)),
        ("bi, bj -> bij", (["b", "b"], False)),
        ("bi,ij->bj", (["b", "i"], False)),
        ("bi,bj", None),
        ("...i,ij->...j", None),
        (None, None),
    ],
)
def test_equations(equation, found):
    assert contracted(equation) == found


def test_of_numbers_that_all_ranks_have_nothing_is_set_against_each_other():
    assert seen("w.max()", "n = w.max()", before="w = torch.zeros(8)") is ANYTHING.extent
    assert seen("w.topk(3)", "n = w.topk(3)", before="w = torch.zeros(8)") is ANYTHING.extent
