"""The order of one process is that of a script on any number of ranks, for as long as the cell runs."""

from __future__ import annotations

import torch
from torch.utils.data import DataLoader, DistributedSampler, SequentialSampler, WeightedRandomSampler

from nbddp.inkernel.order import Orders

DATA = list(range(20))


def drawn(loader: DataLoader[int]) -> list[int]:
    return [int(x) for batch in loader for x in batch]


def distributed(seed: int, epoch: int, ranks: int = 2, batch: int = 4) -> list[int]:
    """The global batches of a script on so many ranks."""
    shares = []
    for rank in range(ranks):
        sampler: DistributedSampler[int] = DistributedSampler(DATA, ranks, rank, seed=seed)  # type: ignore[arg-type]
        sampler.set_epoch(epoch)
        shares.append(list(sampler))
    return [x for samples in zip(*shares, strict=True) for x in samples][: len(DATA) // batch * batch]


def loader(**options: object) -> DataLoader[int]:
    return DataLoader(DATA, batch_size=4, **options)  # type: ignore[arg-type]


def test_the_number_of_the_epoch_decides():
    orders, shuffled = Orders(), loader(shuffle=True)
    own = shuffled.batch_sampler.sampler  # type: ignore[union-attr]
    for epoch in (0, 3, 3):
        orders.set_epoch(shuffled, epoch)
        assert drawn(shuffled) == distributed(0, epoch)
    orders.undo()
    assert shuffled.batch_sampler.sampler is own  # type: ignore[union-attr]


def test_loaders_that_count_their_own_passes_have_seeds_of_their_own():
    orders, first, second = Orders(), loader(shuffle=True), loader(shuffle=True)
    assert orders.sharded(first) is first
    orders.sharded(loader())  # one that reads in order has its turn too
    orders.sharded(second)
    orders.sharded(second)  # it is known already
    assert [drawn(first), drawn(first)] == [distributed(0, 0), distributed(0, 1)]
    assert drawn(second) == distributed(2, 0)


def test_no_random_number_is_drawn_for_it():
    orders, shuffled = Orders(), loader(shuffle=True)
    orders.reshuffled(shuffled)
    sampler = shuffled.batch_sampler.sampler  # type: ignore[union-attr]
    before = torch.get_rng_state()
    assert sorted(sampler) == DATA
    assert torch.equal(torch.get_rng_state(), before)


def test_samplers_of_another_kind_are_left_alone():
    orders = Orders()
    weighted = WeightedRandomSampler([1.0] * 20, 20)
    for one in (loader(), loader(sampler=weighted), loader(batch_sampler=None), "no loader"):
        own = getattr(getattr(one, "batch_sampler", None), "sampler", None)
        orders.sharded(one)
        orders.set_epoch(one, 2)
        assert getattr(getattr(one, "batch_sampler", None), "sampler", None) is own
        assert own is None or type(own) in (SequentialSampler, WeightedRandomSampler)
