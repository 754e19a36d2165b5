"""Random numbers drawn for a batch, dealt out with its samples: each process has what one would have for its share."""

from __future__ import annotations

from typing import Any, cast

import torch
from torch.overrides import TorchFunctionMode

from nbddp.verify.inside.record import Recorder, rank

LIKE = ("randn_like", "rand_like", "randint_like", "bernoulli")
IN_PLACE = ("normal_", "uniform_", "bernoulli_", "random_")
MADE = ("randn", "rand", "randint", "normal")


def deal(recorder: Recorder) -> None:
    """From here to the end of this process."""
    cast(Any, Dealt(recorder)).__enter__()


class Dealt(TorchFunctionMode):
    """Draws for the batch of all processes and takes this process's rows, once the training has begun."""

    def __init__(self, recorder: Recorder) -> None:
        super().__init__()
        self.recorder, self.step, self.draws = recorder, -1, 0

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name, options = getattr(func, "__name__", ""), kwargs or {}
        if name not in (*LIKE, *IN_PLACE, *MADE) or self.recorder.batch is None or options.get("generator") is not None:
            return func(*args, **options)
        self._count()
        out = func(*args, **options)
        if isinstance(out, torch.Tensor):
            out.data.copy_(self._numbers(name, out, args, options))
        return out

    def _count(self) -> None:
        """Draws are numbered from each batch and step on: what an evaluation has drawn makes no difference."""
        place = self.recorder.steps + self.recorder.fetched
        if self.step != place:
            self.step, self.draws = place, 0
        self.draws += 1

    def _numbers(self, name: str, out: torch.Tensor, args: Any, options: Any) -> Any:
        if name.startswith(("normal", "randn")):
            numbers = self._rows(out, torch.randn)
            if name == "normal_":
                mean, std = _two(args[1:], options, ("mean", "std"), (0.0, 1.0))
                numbers = numbers * std + mean
            elif name == "normal":
                mean, std = _two(args, options, ("mean", "std"), (0.0, 1.0))
                numbers = numbers * _there(std) + _there(mean)
            return numbers
        numbers = self._rows(out, torch.rand)
        if name == "uniform_":
            low, high = _two(args[1:], options, ("from", "to"), (0.0, 1.0))
            return numbers * (high - low) + low
        if name == "bernoulli":
            return (numbers < _there(args[0])).to(numbers)
        if name == "bernoulli_":
            return (numbers < _there(args[1] if len(args) > 1 else options.get("p", 0.5))).to(numbers)
        if name in ("randint", "randint_like", "random_"):
            low, high = _bounds(args, options)
            return (numbers * (high - low)).floor() + low
        return numbers

    def _rows(self, out: torch.Tensor, draw: Any) -> torch.Tensor:
        """Numbers of the shape of `out` that one process would have in the places of this one's samples."""
        share, samples = self.recorder.share, len(self.recorder.batch or ())
        generator = torch.Generator().manual_seed(1_000_003 * (self.step + 1) + self.draws)
        batch = next((place for place, size in enumerate(out.shape) if size == samples and samples > 1), None)
        if batch is None:
            return self._plain(draw, out.shape, generator)
        shape = [size * share if place == batch else size for place, size in enumerate(out.shape)]
        mine = torch.arange(rank() if share > 1 else 0, shape[batch], share)
        return self._plain(draw, shape, generator).index_select(batch, mine)

    @staticmethod
    def _plain(draw: Any, shape: Any, generator: torch.Generator) -> torch.Tensor:
        drawn: torch.Tensor = draw(shape, generator=generator, dtype=torch.float64)
        return drawn


def _two(args: Any, options: Any, names: tuple[str, str], defaults: tuple[float, float]) -> tuple[Any, Any]:
    values = [*args[:2], *(options.get(n, d) for n, d in list(zip(names, defaults, strict=True))[len(args[:2]) :])]
    return values[0], values[1]


def _bounds(args: Any, options: Any) -> tuple[int, int]:
    numbers = [int(value) for value in args if isinstance(value, int)]
    low, high = options.get("low", options.get("from")), options.get("high", options.get("to"))
    if high is not None:
        return int(low or 0), int(high)
    if len(numbers) >= 2:
        return numbers[0], numbers[1]
    return int(low or 0), numbers[0] if numbers else 2**24


def _there(value: Any) -> Any:
    return value.detach().cpu().double() if isinstance(value, torch.Tensor) else value
