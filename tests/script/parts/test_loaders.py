"""Loaders made anew: together the processes read what one would have read, and no process reads for another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

import pytest
import torch
from torch.utils.data import (
    DataLoader,
    Dataset,
    IterableDataset,
    RandomSampler,
    SubsetRandomSampler,
    TensorDataset,
    WeightedRandomSampler,
)

from nbddp.script.parts.loaders import (
    all_of,
    is_share,
    part_of_each,
    sharded,
    sharded__bare,
    sharded__plain,
    shuffles_all,
    sum_over_shares,
)
from tests.script.parts.ranks import on_ranks, run_ranks

SAMPLES = list(range(24))


def flat(batches: Iterable[list[int]]) -> list[int]:
    return list(chain.from_iterable(batches))


class Stream(IterableDataset[int]):
    def __init__(self, count: int) -> None:
        self.count = count

    def __iter__(self) -> Iterator[int]:
        return iter(range(self.count))


class SizedStream(Stream):
    def __len__(self) -> int:
        return self.count


class OwnBatches:
    """Batches of two and of four."""

    def __iter__(self) -> Iterator[list[int]]:
        yield from ([0, 1], [2, 3, 4, 5], [6, 7])

    def __len__(self) -> int:
        return 3


def build(kind: str, workers: int = 0) -> DataLoader[Any]:
    weights = [1.0] * 12 + [0.0] * 12
    samples: Any = SAMPLES
    options: dict[str, dict[str, Any]] = {
        "in order": {"batch_size": 4},
        "shuffled": {"batch_size": 4, "shuffle": True},
        "short last batch": {"batch_size": 10},
        "without the last": {"batch_size": 10, "drop_last": True},
        "weighted": {"batch_size": 4, "sampler": WeightedRandomSampler(weights, 8)},
        "with replacement": {"batch_size": 4, "sampler": RandomSampler(SAMPLES, replacement=True)},
        "subset": {"batch_size": 4, "sampler": SubsetRandomSampler(range(8, 16))},
        "subset without the last": {"batch_size": 4, "sampler": SubsetRandomSampler(range(7)), "drop_last": True},
        "own batches": {"batch_sampler": OwnBatches()},
        "stream": {"dataset": Stream(24), "batch_size": 4},
        "long stream": {"dataset": SizedStream(25), "batch_size": 4},
    }
    given = {"dataset": samples, "collate_fn": list, "num_workers": workers, **options[kind]}
    return DataLoader(**given)


Passes = list[list[list[int]]]  # of one process, two passes over its share: the batches of each
KINDS = ("in order", "shuffled", "short last batch", "without the last", "weighted", "with replacement", "subset",
         "subset without the last", "own batches", "stream", "long stream")  # fmt: skip


def passes(rank: int, kinds: tuple[str, ...], workers: int = 0) -> dict[str, Passes]:
    torch.manual_seed(rank)  # what a process draws for itself must not matter
    found = {}
    for kind in kinds:
        share = sharded(build(kind, workers))
        assert is_share(share)
        assert sharded(share) is share
        found[kind] = [list(share), list(share)]
    return found


def together(results: list[dict[str, Passes]], kind: str) -> Passes:
    """For each pass, the batches of all processes together."""
    return [
        [sorted(sample for batch in batches for sample in batch) for batches in zip(*parts, strict=True)]
        for parts in zip(*(result[kind] for result in results), strict=True)
    ]


@pytest.fixture(scope="module")
def on_two() -> list[dict[str, Passes]]:
    return on_ranks(2, passes, KINDS)


ALIKE = ("in order", "short last batch", "own batches", "stream")


@pytest.mark.parametrize("kind", ALIKE)
def test_shares_make_up_the_batches_of_one_process(on_two, kind):
    whole = [sorted(batch) for batch in build(kind)]
    assert together(on_two, kind) == [whole, whole]
    sizes = [[len(batch) for batch in batches] for result in on_two for batches in result[kind]]
    assert sizes == [[len(batch) // 2 for batch in whole]] * 4


def test_one_process_has_all():
    results = on_ranks(1, passes, ALIKE)
    for kind in ALIKE:
        assert together(results, kind)[0] == [sorted(batch) for batch in build(kind)]


def test_a_loader_that_shuffles_does_so_anew_each_time(on_two):
    first, second = together(on_two, "shuffled")
    assert sorted(flat(first)) == sorted(flat(second)) == SAMPLES
    assert first != second


def test_the_short_last_batch_is_left_out_where_it_was(on_two):
    assert together(on_two, "without the last")[0] == [SAMPLES[:10], SAMPLES[10:20]]
    assert [len(batch) for batch in together(on_two, "subset without the last")[0]] == [4]


@pytest.mark.parametrize(("kind", "count"), [("weighted", 8), ("with replacement", 24), ("subset", 8)])
def test_an_own_sampler_draws_once_for_all(on_two, kind, count):
    for drawn in (flat(batches) for batches in together(on_two, kind)):
        assert len(drawn) == count
        assert kind != "subset" or sorted(drawn) == list(range(8, 16))
        assert kind != "weighted" or max(drawn) < 12


def test_of_a_stream_every_process_gets_as_much(on_two):
    assert together(on_two, "long stream")[0] == [list(range(i, i + 4)) for i in range(0, 24, 4)]


def test_workers_of_a_stream_take_shares_too():
    results = on_ranks(2, passes, ("stream",), 1)
    assert together(results, "stream")[0] == [list(range(i, i + 4)) for i in range(0, 24, 4)]


def lengths(rank: int) -> list[int]:
    return [len(sharded(build(kind))) for kind in ("shuffled", "without the last", "own batches")]


def test_a_share_has_as_many_batches():
    assert on_ranks(2, lengths) == [[6, 2, 3]] * 2


def keeps(rank: int) -> Any:
    loader = sharded(DataLoader(TensorDataset(torch.arange(8)), 4, num_workers=1, persistent_workers=True, timeout=30))
    return loader.num_workers, loader.persistent_workers, loader.timeout, loader.batch_size


def test_how_it_loads_stays():
    assert on_ranks(2, keeps) == [(1, True, 30, 2)] * 2


class Named(DataLoader[Any]):
    """A loader of a package."""

    def __init__(self, name: str, samples: Dataset[Any]) -> None:
        self.name = name
        super().__init__(samples, 4)

    @property
    def title(self) -> str:
        return f"{self.name} of {len(self.dataset)}"  # type: ignore[arg-type]


def of_a_class(rank: int) -> Any:
    loader = sharded(Named("first", TensorDataset(torch.arange(8))))
    return loader.title, loader.batch_size, [batch[0].tolist() for batch in loader]


def test_what_else_it_holds_stays():
    assert on_ranks(2, of_a_class) == [("first of 8", 2, [[0, 2], [4, 6]]), ("first of 8", 2, [[1, 3], [5, 7]])]


class OwnLoader(DataLoader[Any]):
    def __iter__(self) -> Any:
        return iter([1, 2, 3])


def refused(rank: int, kind: str) -> Any:
    samples: Dataset[Any] = TensorDataset(torch.arange(8))
    loaders = {"own": lambda: OwnLoader(samples, 4), "single": lambda: DataLoader(samples, batch_size=None)}
    return sharded(loaders[kind]())


@pytest.mark.parametrize("kind", ["own", "single"])
def test_what_cannot_be_shared_out_is_an_error(kind):
    assert all(isinstance(result, TypeError) for result in run_ranks(2, refused, kind))


WHOLE = ("in order", "shuffled", "short last batch", "weighted", "own batches", "stream")


def whole(rank: int) -> dict[tuple[str, bool], list[list[int]]]:
    torch.manual_seed(rank)
    built = {(kind, share): build(kind) for kind in WHOLE for share in (True, False)}
    return {key: list(all_of(sharded(loader) if key[1] else loader)) for key, loader in built.items()}


@pytest.fixture(scope="module")
def read_whole() -> list[dict[tuple[str, bool], list[list[int]]]]:
    return on_ranks(2, whole)


@pytest.mark.parametrize("share", [True, False])
@pytest.mark.parametrize("kind", WHOLE)
def test_all_of_it_is_the_same_on_each_process(read_whole, kind, share):
    first, second = (result[kind, share] for result in read_whole)
    assert first == second
    assert [len(batch) for batch in first] == [len(batch) for batch in build(kind)]
    if kind != "weighted":
        assert sorted(flat(first)) == sorted(flat(build(kind)))


def alone(rank: int) -> list[int]:
    """Rank 0 by itself: where chance has no part nobody else is needed."""
    return flat(all_of(sharded(build("shuffled")))) if rank == 0 else []


def test_all_of_a_share_in_a_known_order_needs_no_other_process():
    first, _ = on_ranks(2, alone)
    assert sorted(first) == SAMPLES


def sums(rank: int) -> list[int]:
    return [sum_over_shares(rank + 1, loader) for loader in (sharded(build("shuffled")), build("shuffled"))]


def test_sums_over_shares_are_added_up_and_others_left():
    assert on_ranks(2, sums) == [[3, 1], [3, 2]]


def test_what_shuffle_makes_is_told_from_other_random_samplers():
    assert shuffles_all(RandomSampler(SAMPLES))
    assert not shuffles_all(RandomSampler(SAMPLES, num_samples=5))
    assert not shuffles_all(RandomSampler(SAMPLES, replacement=True))


def take_other_things(rank: int) -> tuple[list[int], str]:
    with pytest.raises(TypeError) as refused:
        sharded([1, 2])
    return list(all_of([1, 2])), str(refused.value)


def test_what_is_no_loader_stays_as_it_is_or_is_refused():
    for whole, said in on_ranks(2, take_other_things):
        assert whole == [1, 2]
        assert said == "only a DataLoader can be shared out, and this is a list"


def shares_of_short_variants(rank: int, shuffle: bool) -> list[list[list[int]]]:
    loader = DataLoader(range(20), 4, shuffle=shuffle)
    return [[batch.tolist() for batch in made(loader)] for made in (sharded__plain, sharded__bare)]


@pytest.mark.parametrize("shuffle", [True, False])
def test_short_variants_deal_out_each_batch(shuffle):
    for first, second in zip(*on_ranks(2, shares_of_short_variants, shuffle), strict=True):
        assert [len(batch) for batch in (*first, *second)] == [2] * 10
        drawn = [value for batches in zip(first, second, strict=True) for batch in batches for value in batch]
        assert sorted(drawn) == sorted(set(drawn))
        assert len(drawn) == 20


def parts(_: int) -> list[list[int]]:
    batches = [[torch.arange(7), torch.zeros(7)], [torch.arange(2), torch.zeros(2)]]
    return [part.tolist() for part in part_of_each(batches)]


def test_together_they_have_each_batch_once() -> None:
    found = run_ranks(3, parts)
    assert [flat(rank[at] for rank in found) for at in range(2)] == [[*range(7)], [0, 1]]
