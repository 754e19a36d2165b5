"""Evaluation dealt out: each sample once, in the batches of one process and, put together, in its order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
from torch.utils.data import (
    BatchSampler,
    DataLoader,
    Dataset,
    DistributedSampler,
    IterableDataset,
    SequentialSampler,
    SubsetRandomSampler,
)
from tqdm import tqdm

from nbddp.script.parts.batches import Reshuffled, ShardOf, ShardOfBatches
from nbddp.script.parts.evaluation import (
    gather_batches,
    gather_in_order,
    gather_in_order__in_order,
    gather_part,
    gather_parts,
    gather_samples,
    share_of,
    share_of__in_order,
    share_of__plain,
)
from tests.script.parts.ranks import on_ranks, run_ranks


class Numbers(Dataset[int]):
    """Counts what is read of it, in this process."""

    def __init__(self, length: int) -> None:
        self.length, self.read = length, 0

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, index: int) -> int:
        self.read += 1
        return index * 10


def build(kind: str, length: int = 21) -> DataLoader[int]:
    data = Numbers(length)
    if kind == "shuffled":
        return DataLoader(data, batch_size=4, shuffle=True)
    if kind == "generator":
        return DataLoader(data, batch_size=4, shuffle=True, generator=torch.Generator().manual_seed(5))
    if kind == "subset":
        return DataLoader(data, batch_size=4, sampler=SubsetRandomSampler(range(3, 12)))
    if kind == "drop_last":
        return DataLoader(data, batch_size=4, drop_last=True)
    if kind == "batches":
        return DataLoader(data, batch_sampler=[[0, 1, 2], [3], [4, 5], [6]])
    if kind == "workers":
        return DataLoader(
            data, batch_size=4, num_workers=2, collate_fn=torch.tensor, prefetch_factor=3, worker_init_fn=print
        )
    return DataLoader(data, batch_size=4)


KINDS = ["plain", "shuffled", "generator", "subset", "drop_last", "batches", "workers"]


def one_process(kind: str, length: int = 21) -> tuple[list[list[int]], int]:
    torch.manual_seed(7)
    loader = build(kind, length)
    batches = [batch.tolist() for _ in range(2) for batch in loader]
    return batches, int(torch.randint(2**40, ()))


def dealt(rank: int, kind: str, length: int = 21, apart: int = 1) -> Any:
    torch.manual_seed(7 + apart * rank)
    loader = build(kind, length)
    epochs = [[batch.tolist() for batch in tqdm(share_of(loader))] for _ in range(2)]
    assert len(share_of(loader)) == len(epochs[0])
    return epochs, int(torch.randint(2**40, ())), loader.dataset.read  # type: ignore[attr-defined]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("world_size", [1, 2, 3])
def test_the_batches_are_those_of_one_process(kind, world_size):
    expected, drawn_next = one_process(kind)
    results = on_ranks(world_size, dealt, kind)
    for epoch in range(2):
        shares = [result[0][epoch] for result in results]
        batches = expected[epoch * len(expected) // 2 : (epoch + 1) * len(expected) // 2]
        assert shares == [batches[rank::world_size] for rank in range(world_size)]
    assert results[0][1] == drawn_next, "rank 0 draws the random numbers of one process"
    if kind != "workers":
        assert sum(result[2] for result in results) == sum(map(len, expected)), "nothing is read twice"


def test_random_numbers_go_on_alike_where_they_were_alike():
    """What all ranks draw behind it, a batch of the training say, is then still the same."""
    results = on_ranks(2, dealt, "shuffled", 21, 0)
    assert results[0][1] == results[1][1]


def test_more_ranks_than_batches():
    results = on_ranks(3, dealt, "plain", 5)
    assert [result[0][0] for result in results] == [[[0, 10, 20, 30]], [[40]], []]


def deal_in_order(rank: int, kind: str) -> Any:
    loader = build(kind)
    collected = [value for batch in share_of__in_order(loader) for value in batch.tolist()]
    return collected, gather_in_order__in_order(collected, loader), len(share_of__in_order(loader))


@pytest.mark.parametrize("kind", ["plain", "drop_last", "workers"])
def test_the_short_variant_for_loaders_that_do_not_shuffle(kind):
    batches = one_process(kind)[0]
    batches = batches[: len(batches) // 2]
    for rank, (collected, gathered, length) in enumerate(on_ranks(2, deal_in_order, kind)):
        assert collected == [value for batch in batches[rank::2] for value in batch]
        assert gathered == [value for batch in batches for value in batch]
        assert length == len(batches[rank::2])


def training_loader(kind: str) -> DataLoader[int]:
    data = Numbers(21)
    if kind == "distributed":
        return DataLoader(data, batch_size=2, sampler=DistributedSampler(data, seed=4))
    if kind == "in order":
        return DataLoader(data, batch_size=2, sampler=DistributedSampler(data, shuffle=False), drop_last=True)
    if kind == "reshuffled":
        return DataLoader(data, batch_size=2, sampler=Reshuffled(data))
    if kind == "batch sampler":
        return DataLoader(data, batch_sampler=BatchSampler(DistributedSampler(data, shuffle=False), 2, True))
    if kind == "shard":
        return DataLoader(data, batch_size=2, sampler=ShardOf(SequentialSampler(data)))
    return DataLoader(data, batch_sampler=ShardOfBatches(BatchSampler(SequentialSampler(data), 4, True)))


def deal_training_set(rank: int, kind: str) -> Any:
    loader = training_loader(kind)
    before = [batch.tolist() for batch in loader]
    if isinstance(loader.sampler, DistributedSampler):
        loader.sampler.set_epoch(0)
    found = [batch.tolist() for batch in share_of(loader)]
    if isinstance(loader.sampler, DistributedSampler):
        loader.sampler.set_epoch(0)
    assert [batch.tolist() for batch in loader] == before, "its own share is as it was"
    return before, found


@pytest.mark.parametrize(
    "kind", ["distributed", "in order", "reshuffled", "batch sampler", "shard", "shard of batches"]
)
def test_a_training_loader_is_dealt_out_in_its_global_batches(kind):
    (whole, _), (other, _) = results = on_ranks(2, deal_training_set, kind)
    first, second = (found for _, found in results)
    batches = [batch for pair in zip(first, [*second, None], strict=False) for batch in pair if batch is not None]
    samples = [sample for batch in batches for sample in batch]
    short = kind in {"in order", "batch sampler", "shard of batches"}
    assert sorted(samples) == [10 * index for index in range(20 if short else 21)]
    assert [len(batch) for batch in batches] == [4] * 5 + ([] if short else [1])
    if not kind.startswith("shard"):
        assert batches[0] == [x for pair in zip(whole[0], other[0], strict=True) for x in pair]


class Stream(IterableDataset[int]):
    def __iter__(self) -> Iterator[int]:
        return iter(range(4))


class Moving(DataLoader[int]):
    def __iter__(self) -> Any:
        return (batch + 1 for batch in super().__iter__())


def refuse(rank: int) -> None:
    for loader in (DataLoader(Stream()), DataLoader(Numbers(3), batch_size=None), [1, 2], Moving(Numbers(3))):
        with pytest.raises(TypeError, match=r"only a DataLoader .*can be (dealt|shared) out"):
            share_of(loader)


def test_what_cannot_be_dealt_out_is_refused():
    on_ranks(1, refuse)


def collect(rank: int, kind: str, length: int) -> dict[str, Any]:
    loader = build(kind, length)
    collected: dict[str, list[Any]] = {
        "per batch": [],
        "per sample": [],
        "two": [],
        "nests": [],
        "tensors": [],
        "pairs": [],
    }
    rows = []
    for batch in share_of(loader):
        collected["per batch"].append(batch.float().mean().item())
        collected["per sample"].extend(batch.tolist())
        collected["two"] += [x for value in batch.tolist() for x in (value, -value)]
        collected["nests"].extend([value, "x"] for value in batch.tolist())
        collected["tensors"].append((batch * torch.ones(1, requires_grad=True)).double())
        collected["pairs"].append({"sum": batch.sum(), "name": "b"})
        rows.append(torch.stack([batch, batch], 1))
    matrix = torch.cat(rows) if rows else torch.zeros(0, 2, dtype=torch.long)
    return {
        name: gather_in_order(values, loader)
        for name, values in {**collected, "matrix": matrix, "array": matrix.numpy()}.items()
    }


@pytest.mark.parametrize("kind", ["shuffled", "batches"])
@pytest.mark.parametrize(("world_size", "length"), [(2, 21), (3, 21), (3, 8), (2, 2)])
def test_what_was_collected_is_put_in_the_order_of_one_process(kind, world_size, length):
    length = max(length, 7) if kind == "batches" else length
    expected = on_ranks(1, collect_seeded, kind, length)[0]
    for found in on_ranks(world_size, collect_seeded, kind, length):
        assert found.keys() == expected.keys()
        assert isinstance(found["array"], np.ndarray)
        for name, value in expected.items():
            assert same(found[name], value), name


def same(found: Any, expected: Any) -> bool:
    """Equal, and of the same kind, to the last tensor."""
    if isinstance(expected, torch.Tensor | np.ndarray):
        return found.dtype == expected.dtype and found.tolist() == expected.tolist()
    if isinstance(expected, dict):
        return found.keys() == expected.keys() and all(same(found[key], expected[key]) for key in expected)
    if isinstance(expected, list):
        return len(found) == len(expected) and all(map(same, found, expected))
    return type(found) is type(expected) and found == expected


def collect_seeded(rank: int, kind: str, length: int) -> Any:
    torch.manual_seed(2)
    return collect(rank, kind, length)


def test_one_process_collects_what_it_does_without():
    (found,) = on_ranks(1, collect_seeded, "batches", 21)
    assert found["per sample"] == [0, 10, 20, 30, 40, 50, 60]
    assert found["per batch"] == [10.0, 30.0, 45.0, 60.0]
    assert found["nests"][:2] == [[0, "x"], [10, "x"]]
    assert found["two"][:4] == [0, 0, 10, -10]


def count(rank: int) -> Any:
    return gather_samples(3 + rank)


def test_how_many_samples_the_processes_have():
    assert on_ranks(3, count) == [12, 12, 12]


def collect_nothing(rank: int) -> Any:
    loader = build("plain")
    list(share_of(loader))
    return gather_in_order([], loader)


def collect_too_little(rank: int) -> Any:
    loader = build("plain")
    return gather_in_order([1 for _ in share_of(loader)][rank:], loader)


def test_nothing_collected_is_nothing():
    assert on_ranks(2, collect_nothing) == [[], []]


def test_what_fits_neither_batches_nor_samples_is_an_error_everywhere():
    for result in run_ranks(2, collect_too_little):
        assert isinstance(result, ValueError)
        assert "[3, 2] values" in str(result)


def collect_in_training(rank: int, world_size: int) -> list[Any]:
    """A training of two steps on batches of six: what each process sees of them, as DistributedSampler deals."""
    steps = [torch.arange(6)[rank::world_size], torch.arange(6, 12)[rank::world_size]]
    pairs = [(step * 10, step) for step in steps]
    return [
        gather_samples([value.item() for step in steps for value in step]),
        gather_samples(torch.cat(steps)),
        gather_samples(torch.cat(steps).numpy().reshape(-1, 1)),
        gather_batches(steps),
        gather_batches([step.tolist() for step in steps]),
        gather_batches(pairs),
        gather_samples([]),
    ]


@pytest.mark.parametrize("world_size", [2, 3])
def test_what_a_training_collects_comes_in_the_order_of_one_process(world_size):
    for listed, joined, array, batches, lists, pairs, nothing in on_ranks(world_size, collect_in_training, world_size):
        assert listed == list(range(12))
        assert joined.tolist() == list(range(12))
        assert array.tolist() == [[value] for value in range(12)]
        assert [batch.tolist() for batch in batches] == [list(range(6)), list(range(6, 12))]
        assert lists == [list(range(6)), list(range(6, 12))]
        assert [second.tolist() for _, second in pairs] == [list(range(6)), list(range(6, 12))]
        assert [first.tolist() for first, _ in pairs] == [list(range(0, 60, 10)), list(range(60, 120, 10))]
        assert nothing == []


def made_once(rank: int) -> list[bool]:
    loaders = [build("plain"), build("plain"), build("plain")]
    return [share(loader) is share(loader) for share, loader in zip(SHARES, loaders, strict=True)]


SHARES = (share_of, share_of__in_order, share_of__plain)


def test_a_share_is_made_once_so_that_its_workers_stay():
    assert on_ranks(2, made_once) == [[True] * 3] * 2


def plainly(rank: int) -> list[list[int]]:
    return [batch.tolist() for batch in share_of__plain(build("plain"))]


def test_the_shortest_variant_deals_the_same_batches():
    loader = build("plain")
    batches = [batch.tolist() for batch in loader]
    assert on_ranks(2, plainly) == [batches[0::2], batches[1::2]]


def parts_of_batches(rank: int) -> tuple[Any, Any]:
    first, second = torch.arange(5), torch.arange(5, 8)
    mine = [batch[len(batch) * rank // 3 : len(batch) * (rank + 1) // 3] for batch in (first, second)]
    return gather_part(mine[0]), gather_parts(mine), gather_parts([(batch, 2 * batch) for batch in mine])


def test_parts_of_split_batches_are_joined_in_their_order():
    for one, both, pairs in on_ranks(3, parts_of_batches):
        assert one.tolist() == [0, 1, 2, 3, 4]
        assert torch.cat(both).tolist() == list(range(8))
        assert [(a.tolist(), b.tolist()) for a, b in pairs][1] == ([5, 6, 7], [10, 12, 14])
