"""Numbers of several processes made one, whatever they are kept in."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from typing import Any

import numpy as np
import pytest
import torch

from nbddp.script.parts.reduction import (
    mean_of_batch,
    mean_over_ranks,
    mean_over_ranks__lists,
    mean_over_samples,
    mean_over_trained_samples,
    sum_over_ranks,
    sum_over_ranks__floats,
    sum_over_ranks__numbers,
    sum_over_ranks__tensors,
)
from tests.script.parts.ranks import on_ranks, run_ranks


def reduce_all(rank: int) -> dict[str, Any]:
    weight = torch.full((2,), rank + 1.0, requires_grad=True)
    half = torch.tensor([30000.0 * (rank + 1)], dtype=torch.float16)
    values: dict[str, Any] = {
        "int": rank + 1,
        "float": 0.5 + rank,
        "bool": rank == 0,
        "large": 2**60 + rank,
        "int here, float there": 0 if rank == 0 else 0.5,
        "int here, tensor there": 0 if rank == 0 else torch.tensor(2.5),
        "graph": weight * 2,
        "half": half,
        "counts": torch.tensor([1, rank]),
        "flags": torch.tensor([True, rank == 0]),
        "matrix": torch.eye(2, dtype=torch.float64) * rank,
        "array": np.array([1.0, rank], dtype=np.float32),
        "scalar": np.float32(rank),
        "list": [rank, [1.5, torch.tensor(1.0)]],
        "tuple": (rank, 1),
        "dict": {"b": rank, "a": 1, "name": "x", "none": None}
        if rank == 0
        else OrderedDict(a=1, b=rank, name="x", none=None),
        "nan": float("nan") if rank else 1.0,
        "empty": [],
        "no number": [object, rank],
    }
    return {name: (sum_over_ranks(value), mean_over_ranks(value)) for name, value in values.items()}


@pytest.fixture(scope="module")
def reduced() -> list[dict[str, Any]]:
    return on_ranks(2, reduce_all)


@pytest.mark.parametrize(
    ("name", "total", "mean"),
    [
        ("int", 3, 1.5),
        ("float", 2.0, 1.0),
        ("bool", 1, 0.5),
        ("large", 2**61 + 1, 2.0**60),
        ("int here, float there", 0.5, 0.25),
        ("tuple", (1, 2), (0.5, 1.0)),
        ("dict", {"b": 1, "a": 2, "name": "x", "none": None}, {"b": 0.5, "a": 1.0, "name": "x", "none": None}),
        ("empty", [], []),
        ("no number", [object, 1], [object, 0.5]),
        ("scalar", np.float32(1), np.float32(0.5)),
    ],
)
def test_numbers(reduced, name, total, mean):
    for result in reduced:
        assert result[name] == (total, mean)
        assert [type(value) for value in result[name]] == [type(total), type(mean)]


@pytest.mark.parametrize(
    ("name", "total", "mean"),
    [
        ("int here, tensor there", torch.tensor(2.5), torch.tensor(1.25)),
        ("graph", torch.tensor([6.0, 6.0]), torch.tensor([3.0, 3.0])),
        ("half", torch.tensor([90000.0]).half(), torch.tensor([45000.0]).half()),
        ("counts", torch.tensor([2, 1]), torch.tensor([1.0, 0.5])),
        ("flags", torch.tensor([2, 1]), torch.tensor([1.0, 0.5])),
        ("matrix", torch.eye(2, dtype=torch.float64), torch.eye(2, dtype=torch.float64) / 2),
    ],
)
def test_tensors_keep_their_type_and_have_no_graph(reduced, name, total, mean):
    for result in reduced:
        for value, expected in zip(result[name], (total, mean), strict=True):
            torch.testing.assert_close(value, expected, rtol=0, atol=0)
            assert not value.requires_grad


def test_arrays_and_nests(reduced):
    for result in reduced:
        total, mean = result["array"]
        assert total.dtype == mean.dtype == np.float32
        assert (total.tolist(), mean.tolist()) == ([2.0, 1.0], [1.0, 0.5])
        assert result["list"] == ([1, [3.0, torch.tensor(2.0)]], [0.5, [1.5, torch.tensor(1.0)]])
        assert all(np.isnan(value) for value in result["nan"])


def test_one_process_gets_the_same_types():
    (result,) = on_ranks(1, reduce_all)
    assert result["int"] == (1, 1.0)
    assert isinstance(result["int"][1], float)
    assert result["tuple"] == ((0, 1), (0.0, 1.0))


def unlike(rank: int, kind: str) -> Any:
    values = {
        "list": [1] * (rank + 1),
        "tensor": torch.zeros(rank + 1),
        "dict": {"a": [1] * (rank + 1)},
        "nest": [[1], [1] * (rank + 1)],
        "list and number": [1] if rank else 1,
    }
    return sum_over_ranks(values[kind])


@pytest.mark.parametrize("kind", ["list", "tensor", "dict", "nest"])
def test_different_shapes_are_an_error_everywhere(kind):
    for result in run_ranks(2, unlike, kind):
        assert isinstance(result, ValueError)
        assert "differ in shape" in str(result)


def by_class(rank: int) -> Any:
    counts: defaultdict[str, int] = defaultdict(int, {"cat": 2} if rank else {"dog": 1, "cat": 1})
    total = sum_over_ranks(counts)
    return list(total.items()), total["bird"]


def test_a_class_that_only_one_share_has_is_counted_and_the_dict_goes_on_making_what_it_lacks():
    assert run_ranks(2, by_class) == [([("dog", 1), ("cat", 3)], 0)] * 2


def test_a_list_here_and_a_number_there_is_an_error_everywhere():
    assert all(isinstance(result, TypeError) for result in run_ranks(2, unlike, "list and number"))


def reduce_numbers(rank: int) -> list[Any]:
    values = [rank + 1, rank == 0, 0.5, 0 if rank == 0 else 0.5]
    return [(sum_over_ranks__numbers(value), sum_over_ranks__floats(value)) for value in values]


def test_the_short_variants_for_numbers():
    for result in on_ranks(3, reduce_numbers):
        assert result == [(6, 6.0), (1, 1.0), (1.5, 1.5), (1.0, 1.0)]
        assert {type(total) for _, total in result} == {float}
        assert [type(total) for total, _ in result[:3]] == [int, int, float]


def reduce_tensors(rank: int) -> list[Any]:
    weight = torch.ones((), requires_grad=True)
    values = [torch.tensor(rank + 1), weight * (rank + 0.5), torch.tensor(0.5, dtype=torch.float16), 2, 0.25]
    return [sum_over_ranks__tensors(value) for value in values]


def test_the_variant_for_tensors_that_hold_a_number():
    for result in on_ranks(2, reduce_tensors):
        assert [float(total) for total in result] == [3.0, 2.0, 1.0, 4.0, 0.5]
        assert [getattr(total, "dtype", type(total)) for total in result] == [
            torch.int64, torch.float32, torch.float16, int, float,
        ]  # fmt: skip
        assert not result[1].requires_grad


def reduce_where_one_has_none(rank: int) -> Any:
    return sum_over_ranks__tensors(0 if rank else torch.tensor(2.5))


def test_a_rank_without_batches_gets_a_tensor_too():
    assert [(type(total), float(total)) for total in on_ranks(2, reduce_where_one_has_none)] == [
        (torch.Tensor, 2.5)
    ] * 2


def reduce_lists(rank: int) -> list[float]:
    values = [float(rank), 2.0 * rank]
    return mean_over_ranks__lists(values) + mean_over_ranks__lists([])


def test_the_variant_for_lists_of_numbers():
    assert on_ranks(2, reduce_lists) == [[0.5, 1.0], [0.5, 1.0]]


def mean_gradients(rank: int) -> list[float]:
    """As DDP averages them, of shares with unlike many samples; the second rank has none that counts."""
    x, counts = [(torch.tensor([1.0, 2.0, 6.0]), torch.tensor([2.0, 0.0, 1.0])), (torch.ones(1), torch.zeros(1))][rank]
    found = []
    for mean in (lambda w: mean_over_samples(w * x), lambda w: mean_over_samples(w * x * counts, counts)):
        weight = torch.tensor(3.0, requires_grad=True)
        mean(weight).backward()
        found.append(sum_over_ranks(float(weight.grad)) / 2)
    return found


def test_a_mean_over_unlike_many_samples_has_the_gradient_of_one_process():
    assert on_ranks(2, mean_gradients) == [[2.5, pytest.approx(8 / 3)]] * 2


def trained_and_evaluated(rank: int) -> tuple[float, float]:
    weight, x = torch.tensor(3.0, requires_grad=True), torch.tensor([[1.0, 2.0, 6.0], [7.0]][rank])
    mean_over_trained_samples(weight * x).backward()
    with torch.no_grad():
        own = 0.0 if rank else mean_over_trained_samples(weight * x).item()  # one rank more often than the other
    return sum_over_ranks(float(weight.grad)) / 2, own


def test_in_an_evaluation_the_mean_over_samples_is_that_of_the_ranks_own_batch():
    assert on_ranks(2, trained_and_evaluated) == [(4.0, 9.0), (4.0, 0.0)]


def root_gradients(rank: int) -> list[float]:
    """As DDP averages them; without gradients it is the rank's own."""
    weight, x = torch.tensor(3.0, requires_grad=True), torch.tensor([1.0, 7.0][rank])
    root = mean_of_batch(weight * x).sqrt()
    root.backward()
    with torch.no_grad():
        own = mean_of_batch(weight * x).item()
    return [root.item(), sum_over_ranks(float(weight.grad)) / 2, own]


def means_of_numbers(rank: int) -> float:
    return mean_of_batch([1.0, 7.0][rank])


def test_a_running_average_is_put_together_as_a_number():
    assert on_ranks(2, means_of_numbers) == [4.0, 4.0]


def test_the_root_of_a_mean_has_the_gradient_of_one_process():
    expected = [pytest.approx(12**0.5), pytest.approx(4 / (2 * 12**0.5))]
    assert on_ranks(2, root_gradients) == [[*expected, 3.0], [*expected, 21.0]]
