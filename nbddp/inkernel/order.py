"""The order of the samples: while a cell trains, its loaders shuffle as those of a script do on any number of ranks."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

Undo = Callable[[], object]


class Orders:
    """Loaders get the sampler of a script with one rank; each is as it was again when the cell has ended."""

    def __init__(self) -> None:
        self._seeds = itertools.count()
        self._given: dict[int, tuple[Any, Any, Any]] = {}  # by the batch sampler: it, its own sampler, the one for now

    def set_epoch(self, loader: Any, number: int, seed: int = 0) -> None:
        """For a loader whose epochs are counted by the loop around it."""
        sampler = self._sampler(loader, lambda: seed, counts=False)
        if sampler is not None:
            sampler.set_epoch(number)

    def reshuffled(self, loader: Any, seed: int = 0) -> Any:
        """For one that counts its own passes."""
        self._sampler(loader, lambda: seed, counts=True)
        return loader

    def sharded(self, loader: Any) -> Any:
        """For one that is built in a way of its own: each of those has another seed."""
        self._sampler(loader, lambda: next(self._seeds), counts=True)
        return loader

    def undo(self) -> None:
        while self._given:
            _, (batches, own, _) = self._given.popitem()
            batches.sampler = own

    def _sampler(self, loader: Any, seed: Callable[[], int], *, counts: bool) -> Any:
        batches = getattr(loader, "batch_sampler", None)
        if id(batches) in self._given:
            return self._given[id(batches)][2]
        own = getattr(batches, "sampler", None)
        number = seed() if _in_turn(batches) else 0
        if not shuffles_all(own):
            return None
        made = _one_rank(loader.dataset, number, counts=counts)
        self._given[id(batches)] = batches, own, made
        batches.sampler = made  # type: ignore[union-attr]
        return made


def _in_turn(batches: Any) -> bool:
    """What a script gives a seed: a loader that shuffles or reads in order, with plain batches."""
    from torch.utils.data import BatchSampler, SequentialSampler

    own = getattr(batches, "sampler", None)
    return type(batches) is BatchSampler and (type(own) is SequentialSampler or shuffles_all(own))


def shuffles_all(sampler: Any) -> bool:
    """Whether it is what `shuffle=True` makes."""
    from torch.utils.data import RandomSampler

    return type(sampler) is RandomSampler and not sampler.replacement and len(sampler) == len(sampler.data_source)


def _one_rank(dataset: Any, seed: int, *, counts: bool) -> Any:
    from torch.utils.data import DistributedSampler

    class OneRank(DistributedSampler):  # type: ignore[type-arg]
        """Draws a new order each time that it is gone through, where nobody tells it the number of the epoch."""

        def __iter__(self) -> Iterator[int]:
            order = super().__iter__()
            self.epoch += 1 if counts else 0
            return order

    return OneRank(dataset, num_replicas=1, rank=0, shuffle=True, seed=seed)
