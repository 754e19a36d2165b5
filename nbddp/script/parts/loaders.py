"""Loaders that a notebook has built in a way of its own, made anew so that each process draws its share, or all."""

# mypy: ignore-errors

import torch.distributed as dist
from torch.utils.data import (
    BatchSampler,
    DataLoader,
    DistributedSampler,
    IterableDataset,
    RandomSampler,
    SequentialSampler,
)

from nbddp.script.parts.batches import Reshuffled, ShardOf, ShardOfBatches, per_rank, sampler_seeds
from nbddp.script.parts.evaluation import remade, undivided
from nbddp.script.parts.exchange import from_rank_0
from nbddp.script.parts.reduction import sum_over_ranks


def sharded(loader, split=True):
    """A loader like this one of which each process draws its share; of every batch, where they are to be split."""
    if not isinstance(loader, DataLoader):
        raise TypeError(f"only a DataLoader can be shared out, and this is a {type(loader).__name__}")
    if is_share(loader):
        return loader
    batches = loader.batch_sampler
    if loader.batch_size is None and batches is None:
        raise TypeError(f"{loader!r} puts no batches together, so that there is nothing to share out")
    size = per_rank(loader.batch_size) if split and loader.batch_size else loader.batch_size
    if isinstance(loader.dataset, IterableDataset):
        return remade(loader, ShardOfStream(loader.dataset), batch_size=size, drop_last=loader.drop_last)
    if type(batches) is not BatchSampler:
        return remade(loader, loader.dataset, batch_sampler=ShardOfBatches(batches))
    share = ShardOf(batches.sampler, batches.drop_last)
    if type(batches.sampler) is SequentialSampler or shuffles_all(batches.sampler):
        shuffle, seed = shuffles_all(batches.sampler), next(sampler_seeds)
        share = Reshuffled(loader.dataset, shuffle=shuffle, seed=seed, drop_last=batches.drop_last)
    return remade(loader, loader.dataset, batch_size=size, sampler=share, drop_last=batches.drop_last)


def shuffles_all(sampler):
    """Whether it is what `shuffle=True` makes, so that a DistributedSampler can take its place."""
    return type(sampler) is RandomSampler and not sampler.replacement and len(sampler) == len(sampler.data_source)


def is_share(loader):
    """Whether it draws a share already."""
    own = isinstance(loader.dataset, ShardOfStream) or isinstance(loader.sampler, DistributedSampler)
    return own or hasattr(loader.sampler, "whole") or hasattr(loader.batch_sampler, "whole")


class ShardOfStream(IterableDataset):
    """Every world_size-th sample of a stream that all processes read alike; what would not go round is left out."""

    def __init__(self, stream):
        self.whole = stream
        self.rank, self.world_size = dist.get_rank(), dist.get_world_size()

    def __iter__(self):
        group = []
        for sample in self.whole:
            group.append(sample)
            if len(group) == self.world_size:
                yield group[self.rank]
                group = []

    def __len__(self):
        return len(self.whole) // self.world_size


def all_of(loader):
    """A loader of all the batches that one process would draw, the same on each process; other things as they are."""
    if not isinstance(loader, DataLoader):
        return loader
    if isinstance(loader.dataset, IterableDataset):
        whole, size = getattr(loader.dataset, "whole", loader.dataset), loader.batch_size
        size = size * dist.get_world_size() if is_share(loader) else size
        return remade(loader, whole, batch_size=size, drop_last=loader.drop_last)
    return remade(loader, loader.dataset, batch_sampler=DrawnAlike(undivided(loader)))


def part_of_each(loader):
    """This process's samples of each batch, for a BatchNorm that takes those of all processes together."""
    rank, world_size = dist.get_rank(), dist.get_world_size()
    for batch in loader:
        x = batch[0] if isinstance(batch, (list, tuple)) else batch
        yield x[len(x) * rank // world_size : len(x) * (rank + 1) // world_size]


def share_or_all(loader):
    """What draws a share as it is; of what is only evaluated all batches, the same on each process."""
    return loader if is_share(loader) else all_of(loader)


class DrawnAlike:
    """The batches that rank 0 draws; where chance has no part in them each process draws for itself."""

    def __init__(self, batches):
        self.batches = batches

    def __iter__(self):
        if isinstance(getattr(self.batches, "sampler", None), (SequentialSampler, DistributedSampler)):
            yield from self.batches
        else:  # when the first is asked for, as a sampler does: by then the loader has drawn a number for itself
            yield from from_rank_0([list(batch) for batch in self.batches] if dist.get_rank() == 0 else None)

    def __len__(self):
        return len(self.batches)


def sum_over_shares(value, loader):
    """The sum over all processes of what each has of its share; over a loader that is no share all have the same."""
    return sum_over_ranks(value) if is_share(loader) else value


def sharded__plain(loader):
    """A loader like this one that draws this process's share of every batch."""
    shuffle, seed = isinstance(loader.sampler, RandomSampler), next(sampler_seeds)
    sampler = Reshuffled(loader.dataset, shuffle=shuffle, seed=seed, drop_last=loader.drop_last)
    size = per_rank(loader.batch_size)
    return remade(loader, loader.dataset, batch_size=size, sampler=sampler, drop_last=loader.drop_last)


def sharded__bare(loader):
    """A loader of the same data that draws this process's share of every batch."""
    shuffle, seed = isinstance(loader.sampler, RandomSampler), next(sampler_seeds)
    sampler = Reshuffled(loader.dataset, shuffle=shuffle, seed=seed, drop_last=loader.drop_last)
    return DataLoader(loader.dataset, per_rank(loader.batch_size), sampler=sampler, drop_last=loader.drop_last)


def sum_over_shares__plain(value, loader):
    """The sum over all processes of what each has of its share; over a loader that is no share all have the same."""
    return sum_over_ranks(value) if isinstance(loader.sampler, DistributedSampler) else value


def is_share__plain(loader):
    """Whether it draws this process's share of every batch."""
    return isinstance(loader.sampler, DistributedSampler)
