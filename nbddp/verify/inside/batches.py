"""Loaders under watch: which samples make each batch, in the order of all processes, long epochs cut short."""

from __future__ import annotations

import functools
import inspect
import random
import sys
from collections.abc import Callable, Iterator
from typing import Any, cast

import torch
from torch.utils.data import BatchSampler, DataLoader, DistributedSampler, RandomSampler, SequentialSampler
from torch.utils.data import dataloader as loading
from torch.utils.data._utils import fetch as fetching

from nbddp.verify.inside.record import Recorder, rank
from nbddp.verify.inside.seeds import same_coins

Replay = list[list[list[int]]]  # the batches of each training pass
ALONE: dict[str, Any] = {
    "num_workers": 0,
    "timeout": 0,
    "prefetch_factor": None,
    "persistent_workers": False,
    "multiprocessing_context": None,
}


def watch(recorder: Recorder, without: frozenset[str], cut: bool, replay: Replay, whole: bool = False) -> None:
    """Every loader of this process, also those that are made later."""
    DataLoader.__init__ = _in_this_process(DataLoader.__init__)  # type: ignore[method-assign]
    begin = loading._BaseDataLoaderIter.__init__  # noqa: SLF001 -- there is no public place between sampler and dataset

    def begun(self: Any, loader: DataLoader[Any]) -> None:
        recorder.draws.begins()
        begin(self, loader)
        recorder.draws.mark()
        recorder.loop += torch.is_grad_enabled()
        batches = _replayed(loader, self._sampler_iter, recorder, replay)
        if "uneven" in without and torch.is_grad_enabled():  # evaluations split by samples have other batches
            batches = _full(batches, loader.batch_size)
        self._sampler_iter = _counted(batches, recorder, cut=cut)

    loading._BaseDataLoaderIter.__init__ = begun  # type: ignore[method-assign]  # noqa: SLF001
    kind = fetching._MapDatasetFetcher  # noqa: SLF001
    kind.fetch = _recorded(kind.fetch, recorder, without, whole)  # type: ignore[method-assign]
    _note_passes(recorder)


def _in_this_process(original: Callable[..., None]) -> Callable[..., None]:
    """Workers draw random numbers of their own and fetch ahead: here the training's own process fetches."""
    signature = inspect.signature(original)

    @functools.wraps(original)
    def made(*arguments: Any, **options: Any) -> None:
        bound = signature.bind(*arguments, **options)
        bound.arguments.update({name: value for name, value in ALONE.items() if name in bound.arguments})
        original(*bound.args, **bound.kwargs)

    return made


def _replayed(loader: DataLoader[Any], batches: Iterator[Any], recorder: Recorder, replay: Replay) -> Iterator[Any]:
    """What another run has drawn, in place of what this one would draw; what is read in order stays."""
    drawn = type(loader.sampler) is not SequentialSampler or type(loader.batch_sampler) is not BatchSampler
    if not replay or not drawn or not torch.is_grad_enabled():
        return batches
    recorder.replayed += recorder.steps > recorder.replayed_at
    recorder.replayed_at = recorder.steps
    return iter(replay[min(recorder.replayed, len(replay) - 1)])


def _full(batches: Iterator[Any], size: int | None) -> Iterator[Any]:
    """Without the batch that is smaller than the others."""
    for batch in batches:
        size = size or (len(batch) if isinstance(batch, list) else None)
        if not isinstance(batch, list) or len(batch) == size:
            yield batch


def _counted(batches: Iterator[Any], recorder: Recorder, cut: bool) -> Iterator[Any]:
    """Half of the steps, the last of them with the last batch; so an epoch's end is seen, and the next one's order."""
    began, enough, last, count = recorder.steps, max(1, recorder.limit // 2 - 1), [], 0
    for batch in batches:
        count += 1
        if not cut or recorder.steps - began < enough:
            yield batch
        elif batch is None or (isinstance(batch, list) and set(map(type, batch)) == {type(None)}):
            return  # a stream: it has no last batch that can be known
        else:
            last = [batch]
    yield from last
    if recorder.steps > began:
        recorder.length = count


def _recorded(
    original: Callable[..., Any], recorder: Recorder, without: frozenset[str], whole: bool
) -> Callable[..., Any]:
    def fetch(self: Any, index: Any) -> Any:
        batch = list(index) if isinstance(index, list) else [index]
        if "order" in without:
            index = index[::-1] if isinstance(index, list) else index
        recorder.draws.fetching()
        recorder.fetched += torch.is_grad_enabled()
        recorder.batch = [
            int(item) if isinstance(item, int) else hash(str(item))
            for item in (_part(batch, recorder.share) if whole and torch.is_grad_enabled() else batch)
        ]
        data = _augmented(self, index, original) if "augmentation" in without else original(self, index)
        recorder.draws.fetched()
        if "draws" in without:
            same_coins(recorder.steps)
        return data

    return fetch


def _part(batch: list[Any], processes: int) -> list[Any]:
    """Of a batch that each process fetches whole, what the script's `my_part` leaves to this one."""
    mine = rank() if processes > 1 else 0
    return batch[len(batch) * mine // processes : len(batch) * (mine + 1) // processes]


def _augmented(fetcher: Any, index: Any, original: Callable[..., Any]) -> Any:
    """Each sample is augmented with random numbers that depend on nothing but the sample."""
    if not isinstance(index, list):
        return original(fetcher, index)
    kept = torch.get_rng_state(), random.getstate(), _numpy_state()
    samples = []
    for item in index:
        torch.manual_seed(hash(item) % 2**31)
        random.seed(item)
        if "numpy" in sys.modules:
            sys.modules["numpy"].random.seed(hash(item) % 2**32)
        samples.append(fetcher.dataset[item])
    torch.set_rng_state(kept[0])
    random.setstate(kept[1])
    if kept[2] is not None:
        sys.modules["numpy"].random.set_state(kept[2])
    return fetcher.collate_fn(samples)


def _numpy_state() -> Any:
    return sys.modules["numpy"].random.get_state() if "numpy" in sys.modules else None


def _note_passes(recorder: Recorder) -> None:
    """Which permutation each shuffled pass of a script takes."""
    order = DistributedSampler.__iter__
    number = 0

    def noted(sampler: DistributedSampler[Any]) -> Iterator[int]:
        nonlocal number
        if sampler.shuffle and torch.is_grad_enabled():
            number += 1
            recorder.passed = [number, len(cast(Any, sampler.dataset)), sampler.seed, sampler.epoch]
        return order(sampler)

    DistributedSampler.__iter__ = noted  # type: ignore[assignment,method-assign]


def take_order(recorder: Recorder, orders: dict[str, list[list[int]]]) -> None:
    """A notebook's own shuffling gives way to that of the script: the same permutations, pass by pass."""
    shuffled = RandomSampler.__iter__
    begun: dict[int, tuple[int, int]] = {}  # by the size of the data: number of the pass, steps before it

    def order(sampler: RandomSampler) -> Iterator[int]:
        count = len(cast(Any, sampler.data_source))
        if sampler.replacement or sampler.num_samples != count:
            return shuffled(sampler)
        number, steps = begun.get(count, (0, recorder.steps))
        if torch.is_grad_enabled():
            number += recorder.steps > steps
            begun[count] = number, recorder.steps
        known = orders.get(str(count), [])
        seed, epoch = known[number] if number < len(known) else (0, number)
        one: DistributedSampler[Any] = DistributedSampler(
            cast(Any, sampler.data_source), num_replicas=1, rank=0, seed=seed
        )
        one.set_epoch(epoch)
        return iter(one)

    RandomSampler.__iter__ = order  # type: ignore[method-assign]
