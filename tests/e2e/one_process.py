"""Run a notebook's cells in this process, the only one, and record what it leaves.

    one_process.py NOTEBOOK RECORD once|rebuilt [EPOCH …]

Started as a script by oracle.py. It changes one thing of torch, the order of `RandomSampler`: an exported script takes
DistributedSampler's permutation of each epoch, so the oracle takes that of a DistributedSampler with one replica.
To know which passes train, it counts the calls of `backward`.
"""

from __future__ import annotations

import random
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast
from weakref import WeakKeyDictionary

import numpy as np
import torch
from torch.utils.data import DistributedSampler, RandomSampler

if __name__ == "__main__":  # started as a script: its neighbours are found, the package is not
    from cells import plain_cells  # type: ignore[import-not-found]
    from outcome import flat  # type: ignore[import-not-found]
else:
    from .cells import plain_cells
    from .outcome import flat


KEPT = (int, float, list, dict, tuple, torch.Tensor, np.ndarray, np.generic)


class Passes:
    """Numbers the training passes over each sampler; a look at a batch or an evaluation is none.

    A pass has trained when a backward was run after it began. A pass without gradients takes the order of the
    training pass before it, as a script does whose `set_epoch` stands at the head of the epoch loop.
    """

    def __init__(self, order: tuple[int, ...], rebuilt: bool) -> None:
        self.order = order
        self.rebuilt = rebuilt
        self.seeds: WeakKeyDictionary[RandomSampler, int] = WeakKeyDictionary()
        self.seen = 0
        self.backwards = 0
        self.begun: WeakKeyDictionary[RandomSampler, tuple[int, int]] = WeakKeyDictionary()
        self.backward = torch.autograd.backward
        torch.autograd.backward = self.counted

    def counted(self, *arguments: Any, **options: Any) -> None:
        self.backwards += 1
        self.backward(*arguments, **options)

    def epoch(self, sampler: RandomSampler) -> int:
        number, backwards = self.begun.get(sampler, (0, self.backwards))
        if torch.is_grad_enabled():
            number += self.backwards > backwards
            self.begun[sampler] = number, self.backwards
        return self.order[number] if number < len(self.order) else number

    def seed(self, sampler: RandomSampler) -> int:
        """What an exported script gives to samplers that are built anew: 0, 1, 2, …"""
        if sampler not in self.seeds:
            self.seeds[sampler] = self.seen if self.rebuilt else 0
            self.seen += 1
        return self.seeds[sampler]


def take_distributed_order(passes: Passes) -> None:
    shuffled: Callable[[RandomSampler], Iterator[int]] = RandomSampler.__iter__

    def order(sampler: RandomSampler) -> Iterator[int]:
        if sampler.replacement or sampler.num_samples != len(sampler.data_source):
            return shuffled(sampler)
        one: DistributedSampler[Any] = DistributedSampler(
            cast(Any, sampler.data_source), num_replicas=1, rank=0, shuffle=True, seed=passes.seed(sampler)
        )
        one.set_epoch(passes.epoch(sampler))
        return iter(one)

    RandomSampler.__iter__ = order  # type: ignore[method-assign]


def run_cells(path: Path) -> dict[str, object]:
    """The notebook is `__main__`, so that classes it pickles are found again."""
    main = types.ModuleType("__main__")
    sys.modules["__main__"] = main
    sys.path[0] = ""  # as in a kernel: the notebook sees its own folder, not the tests
    for start, code in plain_cells(path.read_text(encoding="utf-8")):
        exec(compile("\n" * (start - 1) + code, str(path), "exec"), main.__dict__)
    return main.__dict__


def bare(module: torch.nn.Module) -> torch.nn.Module:
    """A script's results carry no `module.` prefix, whatever the notebook wrapped its model in."""
    return module.module if isinstance(module, torch.nn.DataParallel) else module


def record(names: dict[str, object]) -> dict[str, object]:
    """Every module with a state, and every value made of numbers, by its name in the notebook."""
    states = {
        name: {
            key: tensor.detach().clone() for key, tensor in bare(value).state_dict().items() if torch.is_tensor(tensor)
        }
        for name, value in names.items()
        if isinstance(value, torch.nn.Module)
    }
    values = {name: flat(value) for name, value in names.items() if isinstance(value, KEPT)}
    return {"states": {name: state for name, state in states.items() if state}, "values": values}


def main() -> None:
    notebook, target = (Path(argument).resolve() for argument in sys.argv[1:3])
    torch.set_num_threads(1)
    take_distributed_order(Passes(tuple(int(number) for number in sys.argv[4:]), sys.argv[3] == "rebuilt"))
    random.seed(0)
    np.random.seed(0)
    torch.manual_seed(0)
    sys.argv = [str(notebook)]
    left = record(run_cells(notebook))
    torch.save(left, target.with_suffix(".part"))
    target.with_suffix(".part").replace(target)


if __name__ == "__main__":
    main()
