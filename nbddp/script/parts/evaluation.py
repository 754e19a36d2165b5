"""Each process evaluates a share, and what they find is put together as one process would have found it."""

# mypy: ignore-errors
# ruff: noqa: B905

import copy
import sys

import torch
import torch.distributed as dist
from torch.utils.data import BatchSampler, DataLoader, DistributedSampler, IterableDataset

from nbddp.script.parts.exchange import from_rank_0, gathered


def share_of(loader):
    """Every world_size-th batch that one process would draw, as a loader of its own; it is made once."""
    if getattr(loader, "batch_sampler", None) is None or isinstance(loader.dataset, IterableDataset):
        raise TypeError(f"only a DataLoader that draws batches of indices can be dealt out, not {loader!r}")
    if not hasattr(loader, "share"):
        loader.share = remade(loader, loader.dataset, batch_sampler=Dealt(undivided(loader)))
    return loader.share


def share_of__in_order(loader):
    """Every world_size-th batch of a loader that draws in order, as a loader of its own; it is made once."""
    if not hasattr(loader, "share"):
        batches = list(loader.batch_sampler)
        loader.share = remade(loader, loader.dataset, batch_sampler=batches[dist.get_rank() :: dist.get_world_size()])
    return loader.share


def share_of__plain(loader):
    """Every world_size-th batch of a loader that draws in order, as a loader of its own; it is made once."""
    if not hasattr(loader, "share"):
        batches = list(loader.batch_sampler)[dist.get_rank() :: dist.get_world_size()]
        loader.share = DataLoader(loader.dataset, batch_sampler=batches)
    return loader.share


def remade(loader, dataset, **draws):
    """A loader that works as this one does, and draws otherwise."""
    if type(loader).__iter__ is not DataLoader.__iter__:
        raise TypeError(f"only a DataLoader can be shared out, not {loader!r}")
    names = "num_workers collate_fn pin_memory timeout worker_init_fn multiprocessing_context generator prefetch_factor"
    options = {name: getattr(loader, name) for name in f"{names} persistent_workers".split()}
    made = DataLoader(dataset, **options, **draws)
    vars(made).update({**vars(loader), **vars(made)})
    made.__class__ = type(loader)  # which may be one of its own, and hold more
    return made


class Dealt:
    """Every world_size-th of the batches that rank 0 draws; remembers how large all of them were."""

    def __init__(self, batches):
        self.batches = batches

    def __iter__(self):
        drawn = from_rank_0([list(batch) for batch in self.batches])  # all draw: their random numbers stay alike
        self.sizes = [len(batch) for batch in drawn]
        yield from drawn[dist.get_rank() :: dist.get_world_size()]

    def __len__(self):
        return len(range(dist.get_rank(), len(self.batches), dist.get_world_size()))


def undivided(loader):
    """The batches that one process would draw, also from a loader that draws this process's share of them."""
    batches = loader.batch_sampler
    if hasattr(batches, "whole"):
        return batches.whole
    sampler = getattr(batches, "sampler", None)
    if isinstance(sampler, DistributedSampler):
        everything = copy.copy(sampler)
        everything.rank, everything.num_replicas = 0, 1
        everything.num_samples = everything.total_size = len(sampler.dataset)
    elif hasattr(sampler, "whole"):
        everything = sampler.whole
    else:
        return batches
    return BatchSampler(everything, batches.batch_size * dist.get_world_size(), batches.drop_last)


def gather_in_order(values, loader):
    """What the processes have collected over `share_of(loader)`, by batch or by sample, as one would have it."""
    parts, sizes, world_size = gathered(values), loader.share.batch_sampler.sizes, dist.get_world_size()
    total = sum(len(part) for part in parts)
    for counts in ([1] * len(sizes), sizes):  # pieces for each batch, or for each sample of it
        each = total // max(1, sum(counts))
        ends = [0] * world_size
        pieces = []
        for number, count in enumerate(counts):
            rank = number % world_size
            start, ends[rank] = ends[rank], ends[rank] + each * count
            pieces.append(parts[rank][start : ends[rank]])
        if ends == [len(part) for part in parts]:
            return joined(pieces) if pieces else values
    raise ValueError(f"{[len(part) for part in parts]} values on the processes fit neither the batches nor the samples")


def gather_in_order__in_order(values, loader):
    """What the processes have collected over `share_of(loader)`, by batch or by sample, as one would have it."""
    parts, sizes = gathered(values), [len(batch) for batch in loader.batch_sampler]
    lengths = [len(part) for part in parts]
    for counts in ([1] * len(sizes), sizes):  # so many values for each batch, or for each sample of it
        each = sum(lengths) // max(1, sum(counts))
        if lengths == [each * sum(counts[rank :: len(parts)]) for rank in range(len(parts))]:
            full = each * max(counts, default=0)  # values of a batch; the last one may have fewer
            starts = range(0, max(lengths), full or 1)
            pieces = [part[start : start + full] for start in starts for part in parts if len(part) > start]
            return joined(pieces or [values])
    raise ValueError(f"{lengths} values on the processes fit neither the batches nor the samples")


def gather_samples(values):
    """What the processes have collected over their shares of the batches, a value for each sample, as one would."""
    return interleaved(gathered(values))


def gather_batches(values):
    """What the processes have collected over their shares of the batches, one thing for each batch, as one would."""
    return [interleaved(shares) for shares in zip(*gathered(values))]


def gather_part(values):
    """What the processes have of one batch, in its order."""
    return joined(gathered(values))


def gather_parts(values):
    """The same of a list with one thing for each batch, or a tuple of them."""
    batches = zip(*gathered(values))
    return [tuple(map(joined, zip(*b))) if isinstance(b[0], tuple) else joined(b) for b in batches]


def interleaved(shares):
    """Samples in the order in which they were dealt, one to each process in turn."""
    first = shares[0]
    if isinstance(first, torch.Tensor):
        return torch.stack(shares, 1).flatten(0, 1)
    if isinstance(first, tuple):
        return tuple(interleaved(place) for place in zip(*shares))
    if isinstance(first, list):
        return [value for samples in zip(*shares) for value in samples]
    if isinstance(first, int):
        return sum(shares)  # how many they are
    numpy = sys.modules["numpy"]
    return numpy.stack(shares, 1).reshape(-1, *first.shape[1:])


def joined(pieces):
    """Lists, arrays or tensors one after another."""
    if isinstance(pieces[0], torch.Tensor):
        return torch.cat(pieces)
    if isinstance(pieces[0], list):
        return [value for piece in pieces for value in piece]
    return sys.modules["numpy"].concatenate(pieces)
