"""Batches of all processes together, and the share that each of them draws."""

# mypy: ignore-errors

import itertools
import math

import torch
import torch.distributed as dist
from torch.utils.data import DistributedSampler, Sampler

from nbddp.script.parts.drawing import drawn_for_all
from nbddp.script.parts.exchange import from_rank_0


def per_rank(batch_size):
    """The notebook's batch size is that of all processes together; a share is rounded down."""
    world_size = dist.get_world_size()
    share = batch_size // world_size
    if share == 0:
        raise SystemExit(f"a batch of {batch_size} is too small for {world_size} processes")
    if share * world_size != batch_size:
        print(f"batches of {share * world_size} rather than {batch_size}: {share} on each process")
    return share


def my_part(*batch):
    """Which samples of a batch are this process's, and what their mean counts in that of the whole batch."""
    rank, world_size, total = dist.get_rank(), dist.get_world_size(), len(batch[0])
    if any(len(part) != total for part in batch):
        raise ValueError(f"{[len(part) for part in batch]} samples are not those of one batch")
    first, end = total * rank // world_size, total * (rank + 1) // world_size
    return slice(first, end), (end - first) * world_size / total if total else 1.0


def my_part__dim(*batch, dim):
    """Which samples of a batch are this process's, and what their mean counts in that of the whole batch."""
    rank, world_size, sizes = dist.get_rank(), dist.get_world_size(), [part.shape[dim:][:1] for part in batch]
    if len({*sizes}) != 1 or not sizes[0]:
        raise ValueError(f"{[tuple(part.shape) for part in batch]} are not samples of one batch in dimension {dim}")
    (total,) = sizes[0]
    first, end = total * rank // world_size, total * (rank + 1) // world_size
    return slice(first, end), (end - first) * world_size / total if total else 1.0


def my_part__exact(*batch, dim=0):
    """Which samples of a batch are this process's, and what their mean counts; they draw as those of one process do."""
    rank, world_size = dist.get_rank(), dist.get_world_size()
    sizes = [part.shape[dim:][:1] if hasattr(part, "shape") else (len(part),) for part in batch]
    if len({*sizes}) != 1 or not sizes[0]:
        raise ValueError(f"samples of {sizes} are not those of one batch in dimension {dim}")
    total = sizes[0][0]
    first, end = total * rank // world_size, total * (rank + 1) // world_size
    drawn_for_all.begin(first, end, total, dim)
    return slice(first, end), (end - first) * world_size / total if total else 1.0


def my_states(states):
    """Those of a recurrent layer's states that are of this process's samples."""
    if not isinstance(states, torch.Tensor):
        return type(states)(map(my_states, states))
    rank, world_size, dim = dist.get_rank(), dist.get_world_size(), int(states.dim() == 3)  # the first is of layers
    total = states.shape[dim]
    first, end = total * rank // world_size, total * (rank + 1) // world_size
    return states.narrow(dim, first, end - first).contiguous()


def squeezed(samples):
    """Without the dimensions of one entry, but for that of the samples: of a part that trains there may be one."""
    if not torch.is_grad_enabled():
        return samples.squeeze()
    return samples.squeeze(tuple(dim for dim, size in enumerate(samples.shape) if dim and size == 1))


def in_rows(samples, *sizes):
    """As `reshape` does; of no samples torch does not know how long a row is."""
    if samples.numel() == 0:
        row = math.prod(size for size in samples.shape if size) // math.prod(size for size in sizes[1:] if size != -1)
        sizes = [row if size == -1 else size for size in sizes]
    return samples.reshape(sizes)


def weighted(mean, weight):
    """A mean over this process's samples, so that the mean over all processes is that of the whole batch."""
    if weight:
        return mean * weight
    return mean.nan_to_num() if isinstance(mean, torch.Tensor) else 0.0  # of no samples, but for the gradients


def weighted_by_samples(mean, samples):
    """The same, by how many of all processes' samples these are; of what all of them have it is as it was."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    total = torch.tensor(float(len(samples)), dtype=torch.float64, device=device)
    dist.all_reduce(total)
    return weighted(mean, len(samples) * dist.get_world_size() / max(total.item(), 1))


sampler_seeds = itertools.count()  # for samplers that are built anew: each has an order of its own


class Reshuffled(DistributedSampler):
    """Draws a new order each time that it is gone through, where no epoch number is at hand for `set_epoch`."""

    def __iter__(self):
        order = super().__iter__()
        self.epoch += 1
        return order


class ShardOf(Sampler):
    """This process's share of what another sampler draws, once for all of them."""

    def __init__(self, sampler, drop_last=False):
        self.whole, self.drop_last = sampler, drop_last

    def __iter__(self):
        drawn = from_rank_0(list(self.whole) if dist.get_rank() == 0 else None)
        return iter(share_of_list(drawn, self.drop_last))

    def __len__(self):
        return len(share_of_list(range(len(self.whole)), self.drop_last))

    def set_epoch(self, epoch):
        if hasattr(self.whole, "set_epoch"):
            self.whole.set_epoch(epoch)


class ShardOfBatches(Sampler):
    """This process's share of each batch that another batch sampler draws, once for all of them."""

    def __init__(self, batch_sampler):
        vars(self)["whole"] = batch_sampler

    def __getattr__(self, name):
        return getattr(vars(self).get("whole"), name)  # a copy asks before it has it

    def __setattr__(self, name, value):  # `loader.batch_sampler.sampler = others`
        setattr(self.whole, name, value)

    def __iter__(self):
        batches = from_rank_0([list(batch) for batch in self.whole] if dist.get_rank() == 0 else None)
        return map(share_of_list, batches)

    def __len__(self):
        return len(self.whole)

    def set_epoch(self, epoch):
        for sampler in (self.whole, getattr(self.whole, "sampler", None)):
            if hasattr(sampler, "set_epoch"):
                sampler.set_epoch(epoch)


def share_of_list(items, drop_last=False):
    """Deals out one by one, as DistributedSampler does: no process gets less than another."""
    rank, world_size = dist.get_rank(), dist.get_world_size()
    rest = len(items) % world_size
    if rest and drop_last:
        items = items[:-rest]
    elif rest:
        items = [*items, *itertools.islice(itertools.cycle(items), world_size - rest)]
    return items[rank::world_size]
