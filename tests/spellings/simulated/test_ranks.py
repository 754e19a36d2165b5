"""Simulated ranks exchange as real ones do, and are found where real ones would wait for ever."""

from __future__ import annotations

import random

import pytest
import torch
import torch.distributed as dist

from tests.spellings.simulated.exchange import simulated
from tests.spellings.simulated.ranks import Apart


def test_they_add_up_and_gather() -> None:
    found = {}
    with simulated(3) as ranks:

        def work(rank: int) -> None:
            total, values = torch.tensor([rank + 1.0]), [None] * dist.get_world_size()
            dist.all_reduce(total)
            dist.all_gather_object(values, f"rank {dist.get_rank()}")
            found[rank] = total.item(), values

        ranks.run(work)
    assert found == dict.fromkeys(range(3), (6.0, ["rank 0", "rank 1", "rank 2"]))


def test_each_has_its_own_random_numbers() -> None:
    drawn: dict[int, list[float]] = {0: [], 1: []}
    with simulated(2) as ranks:

        def work(rank: int) -> None:
            random.seed(5)
            for _ in range(3):
                dist.barrier()
                drawn[rank].append(random.random())

        ranks.run(work)
    assert drawn[0] == drawn[1]


@pytest.mark.parametrize("first", [0, 1])
def test_one_that_waits_for_an_end_is_found(first: int) -> None:
    with simulated(2) as ranks, pytest.raises(Apart, match="ended"):
        ranks.run(lambda rank: dist.barrier() if rank == first else None)


def test_unlike_exchanges_are_found() -> None:
    with simulated(2) as ranks, pytest.raises(Apart, match="unlike"):
        ranks.run(lambda rank: dist.barrier() if rank else dist.broadcast(torch.zeros(2)))


def test_what_a_rank_raises_is_raised() -> None:
    def work(rank: int) -> None:
        if rank:
            raise ValueError("rank 1")
        dist.barrier()

    with simulated(2) as ranks, pytest.raises(ValueError, match="rank 1"):
        ranks.run(work)
