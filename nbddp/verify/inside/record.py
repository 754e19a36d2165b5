"""What is written down of each optimizer step: loss, learning rates, gradient norm, weights, the samples behind it."""

from __future__ import annotations

import hashlib
import json
import math
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

from nbddp.run.watching.leaving import END
from nbddp.verify.inside.draws import Draws

MOST = 4096  # weights that are written down of a step
PATIENCE = 30.0  # seconds to wait for the other ranks at the end: on a busy machine they are slow


class Recorder:
    """One process's steps, each a line of JSON in a file of its rank."""

    def __init__(self, folder: Path, steps: int, share: int) -> None:
        self.folder, self.limit, self.share = folder, steps, share
        self.optimizers: dict[int, int] = {}
        self.taken: Counter[int] = Counter()
        self.losses: list[float] = []
        self.batch: list[int] | None = None  # the samples that were fetched last
        self.batches: list[list[int]] = []  # those of each backward since the last step
        self.passed: list[Any] | None = None  # number, data, seed and epoch of the shuffled pass that was begun last
        self.fetched = 0  # batches so far, those of evaluations left out
        self.length = 0  # batches in the epoch that ended last
        self.loop = 0  # how often a loader was begun to be gone through
        self.replayed, self.replayed_at = 0, 0
        self.seen: set[str] = set()
        self.started = ""  # the state of the random numbers when the first optimizer was made
        self.names: dict[int, str] = {}
        self.draws = Draws(self.sees)

    @property
    def steps(self) -> int:
        """Taken so far; where there are several optimizers, by the one that took most."""
        return max(self.taken.values(), default=0)

    def listen(self, average: bool) -> None:
        """To every backward pass and every step from here on."""
        backward = torch.autograd.backward

        def watched(tensors: Any, *arguments: Any, **options: Any) -> None:
            roots = [tensors] if isinstance(tensors, torch.Tensor) else list(tensors)
            self.losses.append(sum(float(root.detach().double().sum()) for root in roots))
            if self.batch is not None:
                self.batches.append(self.batch)
            self.draws.before_backward()
            backward(tensors, *arguments, **options)

        torch.autograd.backward = watched
        torch.optim.Optimizer.__init__ = self._first(torch.optim.Optimizer.__init__)  # type: ignore[method-assign]
        register_optimizer_step_pre_hook(lambda optimizer, *_: self._before(optimizer, average))
        register_optimizer_step_post_hook(lambda optimizer, *_: self._after(optimizer))

    def creates(self, path: Path) -> None:
        """A file that was not there before."""
        self._note("created", str(path))

    def sees(self, name: str) -> None:
        """A construct that is at work in this training."""
        if name not in self.seen:
            self.seen.add(name)
            self._note("seen", name)

    def _note(self, kind: str, word: str) -> None:
        """Written down at once, since no step may follow."""
        with (self.folder / f"{kind}{rank()}.txt").open("a", encoding="utf-8") as file:
            file.write(json.dumps(word) + "\n")

    def _first(self, original: Any) -> Any:
        def made(optimizer: Any, *arguments: Any, **options: Any) -> None:
            if not self.started:
                self.started = hashlib.sha256(bytes(torch.get_rng_state().tolist())).hexdigest()[:16]
            original(optimizer, *arguments, **options)

        return made

    def _before(self, optimizer: torch.optim.Optimizer, average: bool) -> None:
        if self.taken[id(optimizer)] >= self.limit:
            self.finish()
        if average and dist.is_initialized():
            for parameter in _parameters(optimizer):
                if parameter.grad is not None:
                    dist.all_reduce(parameter.grad)
                    parameter.grad /= dist.get_world_size()

    def _after(self, optimizer: torch.optim.Optimizer) -> None:
        number = self.optimizers.setdefault(id(optimizer), len(self.optimizers))
        self.taken[id(optimizer)] += 1
        parameters = list(_parameters(optimizer))
        gradients = [_whole(p.grad) for p in parameters if p.grad is not None and not p.grad.is_sparse]
        squares = [float(gradient.detach().double().norm()) ** 2 for gradient in gradients]
        self._write(
            step=self.taken[id(optimizer)],
            optimizer=number,
            kind=type(optimizer).__name__,
            losses=self.losses,
            lr=[float(group.get("lr", 0.0)) for group in optimizer.param_groups],
            gradient=math.sqrt(sum(squares)),
            weights=self._sampled(parameters),
            batches=self.batches,
            passed=self.passed,
            loop=self.loop,
            length=self.length,
            started=self.started,
        )
        self.losses, self.batches = [], []
        self.draws.mark()

    def _sampled(self, parameters: list[torch.Tensor]) -> dict[str, list[float]]:
        """Some of each parameter, evenly spread, the same on every process."""
        if any(id(p) not in self.names for p in parameters):
            self.names = dict(_names())
        each = max(1, MOST // max(1, len(parameters)))
        found: dict[str, list[float]] = {}
        for place, parameter in enumerate(parameters):
            value = _whole(parameter.detach())
            flat = (torch.view_as_real(value) if value.is_complex() else value).reshape(-1)
            some = flat[:: max(1, math.ceil(flat.numel() / each))].double().tolist()
            found[f"{place}:{self.names.get(id(parameter), 'parameter')}"] = [float(f"{x:.9g}") for x in some]
        return found

    def _write(self, **fields: object) -> None:
        with (self.folder / f"trace{rank()}.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(fields) + "\n")

    def finish(self) -> NoReturn:
        """Enough was seen. The other ranks are waited for: one that still reads what this one sent must not fail."""
        sys.stdout.flush()
        sys.stderr.flush()
        ranks = dist.get_world_size() if dist.is_initialized() else 1
        (self.folder / f"enough{rank()}").touch()
        until = time.monotonic() + PATIENCE
        while len(list(self.folder.glob("enough*"))) < ranks and time.monotonic() < until:
            time.sleep(0.01)
        END(0)


def rank() -> int:
    """This process's place; 0 where it is alone, or where the script has not yet said which it is."""
    return dist.get_rank() if dist.is_initialized() else int(os.environ.get("RANK", "0"))


def _parameters(optimizer: torch.optim.Optimizer) -> Iterator[torch.Tensor]:
    for group in optimizer.param_groups:
        yield from group["params"]


def _whole(tensor: torch.Tensor) -> torch.Tensor:
    """Of a sharded model each process has a part; all of them come by."""
    gather = getattr(tensor, "full_tensor", None)
    return gather() if gather else tensor


def _names() -> Iterator[tuple[int, str]]:
    """Names as the notebook's own modules give them: those of no other module's part, and no wrapper's."""
    import gc

    modules = [thing for thing in gc.get_objects() if issubclass(type(thing), torch.nn.Module)]
    bare = [m for m in modules if not isinstance(m, (torch.nn.DataParallel, DistributedDataParallel))]
    parts = {id(part) for module in bare for part in module.__dict__.get("_modules", {}).values()}
    for module in bare:
        if id(module) not in parts:
            for name, parameter in torch.nn.Module.named_parameters(module):
                yield id(parameter), name
