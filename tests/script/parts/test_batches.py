"""What the ranks draw together is what one process would draw."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch.utils.data import (
    BatchSampler,
    DataLoader,
    DistributedSampler,
    Sampler,
    SequentialSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
)

from nbddp.script.parts.batches import (
    Reshuffled,
    ShardOf,
    ShardOfBatches,
    in_rows,
    my_part,
    my_part__dim,
    my_states,
    per_rank,
    squeezed,
    weighted,
    weighted_by_samples,
)
from nbddp.script.parts.reduction import mean_over_ranks
from tests.script.parts.ranks import on_ranks, run_ranks


def share(rank: int, batch_size: int) -> int:
    return per_rank(batch_size)


def test_a_batch_is_divided_among_the_ranks():
    assert on_ranks(3, share, 12) == [4, 4, 4]


def test_a_batch_that_does_not_divide_is_rounded_down():
    assert on_ranks(3, share, 50) == [16, 16, 16]


COUNTS = (1, 2, 3, 16, 17, 50)


def mean_of_part(rank: int) -> list[tuple[int, float]]:
    found = []
    for count in COUNTS:
        mine, weight = my_part(range(count))
        part = torch.arange(float(count))[mine]
        found.append((len(part), float(weighted(part.mean(), weight))))
    return found


def test_parts_make_up_a_batch_and_their_means_its_mean():
    for count, parts in zip(COUNTS, zip(*on_ranks(3, mean_of_part), strict=True), strict=True):
        lengths = [length for length, _ in parts]
        assert sum(lengths) == count
        assert max(lengths) - min(lengths) <= 1
        assert sum(mean for _, mean in parts) / 3 == pytest.approx((count - 1) / 2)


def unlike(rank: int) -> str:
    with pytest.raises(ValueError, match="are not those of one batch") as caught:
        my_part([1, 2], [1, 2, 3])
    return str(caught.value)


def test_unlike_lengths_are_no_batch():
    assert on_ranks(2, unlike) == ["[2, 3] samples are not those of one batch"] * 2


def test_a_mean_of_no_samples_that_is_a_number():
    assert weighted(float("nan"), 0.0) == 0.0


def test_a_batch_of_fewer_samples_than_ranks_is_refused():
    for result in run_ranks(3, share, 2):
        assert isinstance(result, SystemExit)
        assert str(result) == "a batch of 2 is too small for 3 processes"


def draw(rank: int, sampler: Any, epochs: int = 2, **options: Any) -> list[list[list[int]]]:
    loader = DataLoader(range(100), sampler=ShardOf(sampler, **options), batch_size=2)  # type: ignore[arg-type]
    torch.manual_seed(3)
    if rank:
        torch.rand(rank)  # each rank has its own random numbers
    drawn = [[batch.tolist() for batch in loader] for _ in range(epochs)]
    assert [len(loader)] * epochs == [len(batches) for batches in drawn]
    return drawn


def together(shares: list[list[list[int]]]) -> list[list[int]]:
    """The batches of all ranks as one process has them."""
    return [
        [samples[i] for i in range(len(batch)) for samples in step]
        for step in zip(*shares, strict=True)
        for batch in step[:1]
    ]


class Downwards(Sampler[int]):
    """A sampler of the user's own, without any length that torch would need."""

    def __iter__(self) -> Iterator[int]:
        return iter(range(11, -1, -1))

    def __len__(self) -> int:
        return 12


@pytest.mark.parametrize(
    "sampler",
    [WeightedRandomSampler([0.1, 0.5, 0.4] * 4, 12), SubsetRandomSampler(range(40, 52)), Downwards()],
    ids=["weighted", "subset", "own"],
)
def test_a_sampler_of_ones_own_is_drawn_once_for_all(sampler):
    def one_process() -> Any:
        loader = DataLoader(range(100), sampler=sampler, batch_size=6)  # type: ignore[arg-type]
        torch.manual_seed(3)
        return [[batch.tolist() for batch in loader] for _ in range(2)]

    expected = one_process()
    shares = on_ranks(3, draw, sampler)
    for epoch in range(2):
        assert together([result[epoch] for result in shares]) == expected[epoch]


def test_what_does_not_come_out_even_goes_on_from_the_beginning():
    shares = on_ranks(3, draw, SequentialSampler(range(4)), 1)
    assert [result[0] for result in shares] == [[[0, 3]], [[1, 0]], [[2, 1]]]
    shares = on_ranks(3, draw, SequentialSampler(range(1)), 1)
    assert [result[0] for result in shares] == [[[0]], [[0]], [[0]]]


def test_or_it_is_dropped():
    def check(shares: list[Any]) -> list[Any]:
        return [result[0] for result in shares]

    assert check(on_ranks(3, draw_dropping, SequentialSampler(range(5)))) == [[[0]], [[1]], [[2]]]
    assert check(on_ranks(3, draw_dropping, SequentialSampler(range(6)))) == [[[0, 3]], [[1, 4]], [[2, 5]]]


def draw_dropping(rank: int, sampler: Any) -> Any:
    return draw(rank, sampler, 1, drop_last=True)


class Sized(Sampler[list[int]]):
    """Batches of like samples: their sizes differ. Its order depends on the epoch."""

    def __init__(self) -> None:
        self.epoch = 0

    def __iter__(self) -> Iterator[list[int]]:
        return iter([[self.epoch, 1, 2, 3], [4, 5], [6, 7, 8]])

    def __len__(self) -> int:
        return 3

    def set_epoch(self, epoch: int) -> None:
        self.epoch = epoch


def draw_batches(rank: int) -> Any:
    sampler = ShardOfBatches(Sized())
    sampler.set_epoch(9)
    loader = DataLoader(range(100), batch_sampler=sampler)  # type: ignore[arg-type]
    assert len(loader) == 3
    return [batch.tolist() for batch in loader]


def test_each_batch_of_ones_own_is_divided():
    assert on_ranks(2, draw_batches) == [[[9, 2], [4], [6, 8]], [[1, 3], [5], [7, 6]]]


def draw_others(rank: int) -> Any:
    batches = ShardOfBatches(BatchSampler(range(8), 4, False))
    loader = DataLoader(range(100), batch_sampler=batches)  # type: ignore[arg-type]
    loader.batch_sampler.sampler = range(20, 28)  # type: ignore[union-attr]  # as a step may that draws its own places
    assert loader.batch_sampler.batch_size == 4  # type: ignore[union-attr]
    return [batch.tolist() for batch in pickle.loads(pickle.dumps(loader))]


def test_what_is_set_of_it_is_set_of_the_batches_that_it_divides():
    assert on_ranks(2, draw_others) == [[[20, 22], [24, 26]], [[21, 23], [25, 27]]]


def epochs_reach_the_sampler(rank: int) -> None:
    inner = DistributedSampler(range(8))  # type: ignore[arg-type]
    ShardOf(inner).set_epoch(5)
    assert inner.epoch == 5
    ShardOfBatches(BatchSampler(inner, 2, False)).set_epoch(6)
    assert inner.epoch == 6
    ShardOf(range(3)).set_epoch(7)  # has no use for it


def test_the_epoch_is_handed_on():
    on_ranks(1, epochs_reach_the_sampler)


def reshuffle(rank: int) -> Any:
    sampler = Reshuffled(range(20))  # type: ignore[arg-type]
    drawn = [list(sampler) for _ in range(3)]
    plain = DistributedSampler(range(20))  # type: ignore[arg-type]
    for epoch, indices in enumerate(drawn):
        plain.set_epoch(epoch)
        assert indices == list(plain)
    return drawn


def test_reshuffled_has_an_order_for_each_time():
    first, second = on_ranks(2, reshuffle)
    assert first[0] != first[1] != first[2]
    for mine, others in zip(first, second, strict=True):
        assert sorted(mine + others) == list(range(20))


def part_of_sequences(rank: int) -> tuple[Any, Any, str]:
    tokens, labels = torch.arange(15).view(3, 5), torch.arange(5)
    mine, weight = my_part__dim(tokens, labels[None], dim=1)
    states = my_states((torch.arange(10.0).view(2, 5, 1), torch.arange(5.0).view(5, 1)))
    with pytest.raises(ValueError, match="not samples of one batch in dimension 1") as caught:
        my_part__dim(tokens, labels, dim=1)
    taken = [tokens[:, mine].tolist(), labels[mine].tolist(), [state.flatten().tolist() for state in states]]
    return taken, weight, str(caught.value)


def test_samples_in_the_second_dimension_and_the_states_of_layers():
    (first, weight, _), (second, other, message) = on_ranks(2, part_of_sequences)
    assert first == [[[0, 1], [5, 6], [10, 11]], [0, 1], [[0, 1, 5, 6], [0, 1]]]
    assert second == [[[2, 3, 4], [7, 8, 9], [12, 13, 14]], [2, 3, 4], [[2, 3, 4, 7, 8, 9], [2, 3, 4]]]
    assert (weight, other) == (0.8, 1.2)
    assert "(3, 5), (5,)" in message


def weighted_inside(rank: int) -> list[float]:
    """Means over 5 samples of which a rank has a part, and over what each rank has whole."""
    part, whole = torch.arange(5.0)[my_part(range(5))[0]], torch.arange(3.0)
    found = [weighted_by_samples(part.mean(), part), weighted_by_samples(whole.mean(), whole)]
    number = weighted_by_samples(part.mean().item(), part)
    return [mean_over_ranks(mean) for mean in (*(mean.item() for mean in found), number)]


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_a_mean_counts_by_how_many_samples_it_is_of(ranks):
    assert on_ranks(ranks, weighted_inside) == [[pytest.approx(2.0), pytest.approx(1.0), pytest.approx(2.0)]] * ranks


def empty_batch(rank: int) -> tuple[slice, float]:
    return my_part(torch.zeros(0, 2))


def test_all_ranks_count_an_empty_batch_as_one_process_does():
    assert on_ranks(2, empty_batch) == [(slice(0, 0), 1.0)] * 2


@pytest.mark.parametrize(("shape", "left"), [((1, 1), (1,)), ((3, 1, 2, 1), (3, 2)), ((4, 2), (4, 2)), ((1,), (1,))])
def test_a_single_sample_keeps_its_dimension(shape, left):
    assert squeezed(torch.zeros(shape)).shape == left
    assert squeezed(torch.zeros(shape).numpy()).shape == left


def test_where_nothing_is_learned_all_dimensions_go():
    with torch.no_grad():
        assert squeezed(torch.zeros(1, 1)).shape == ()


@pytest.mark.parametrize("samples", [0, 3])
def test_rows_of_no_samples_are_as_long_as_those_of_others(samples):
    assert in_rows(torch.zeros(samples, 4, 6), samples, -1, 2, 3).shape == (samples, 4, 2, 3)
