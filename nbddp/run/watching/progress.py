"""How far a training is: told ten times a second at most, for to look at a value is to wait for the device.

And more rarely in a long training, and on many ranks: who looks at a run reads all that was told.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from time import monotonic
from typing import Any

from nbddp.run.watching.errors import Place, place_in_script
from nbddp.run.watching.reports import Reports
from nbddp.run.watching.samples import samples_in

EVERY = 0.1  # seconds between two reports of steps
AT_LEAST = 0.1  # of these seconds, where one is the first or the last of an epoch
FULL = 10_000  # reports of one rank; then they become rarer
MANY = 10  # ranks; of more the others take turns, as it were
RAREST = 1.0, 60.0  # seconds, of the first rank and of others


class Progress:
    """Counts epochs and steps."""

    def __init__(self, reports: Reports) -> None:
        self.reports = reports
        self.before = 0  # steps that earlier attempts of a job have taken
        self.epoch = 0
        self.epochs: int | None = None
        self._batches: int | None = None  # of an epoch, where that is known
        self._began: float | None = None
        self._between = EVERY
        self._reported = -1.0
        self._told = 0  # steps by then
        self._begun = 0  # steps before this epoch
        self._untold: tuple[int, Mapping[str, Any]] = (0, {})  # a step that came right after another, and its values
        self._samples: int | None = None  # of the step that was reported last
        self.step, self._counted, self._await = counter()

    def report_step(self, batches: int | None, values: Mapping[str, Any], batch: tuple[Any, ...] = ()) -> None:
        """Tell of the step that was counted last."""
        now = monotonic()
        self._batches, self._samples = batches, samples_in(batch)
        self._between = self._pause(now)
        if now < self._reported + self._between * AT_LEAST:  # the last of an epoch, right after another
            self._untold = self._counted(), values
            return
        self._reported = now
        self._tell(values, place_in_script())
        self._await(monotonic() + self._between, self._begun + (batches or 0))

    def _pause(self, now: float) -> float:
        """Seconds between two reports."""
        self._began = now if self._began is None else self._began
        others = self.reports.rank > 0
        pause = max(EVERY, (now - self._began) / FULL)
        return min(pause * max(1.0, self.reports.world_size / MANY), RAREST[1]) if others else min(pause, RAREST[0])

    def taken(self) -> int:
        """All steps so far."""
        return self.before + self._counted()

    def ends(self) -> None:
        """The last step is told, however soon it came."""
        number, values = self._untold
        if self._told < self._counted():
            self._tell(values if number == self._counted() else {})

    def _tell(self, values: Mapping[str, Any], place: Place | None = None) -> None:
        batches, steps = self._batches, self._counted()
        self._told, self._untold = steps, (0, {})
        self.reports.report(
            "step",
            epoch=self.epoch,
            step=self.before + steps,
            steps=self.epochs * batches if self.epochs and batches else None,
            batch=steps - self._begun,
            batches=batches,
            samples=self._samples,
            values=self.reports.finite_numbers(values, self.epoch, steps),
            memory=_memory(),
            place=place,
        )

    def epoch_begins(self, number: int, epochs: int | None = None) -> None:
        """Its first step may be told soon."""
        self.epoch, self.epochs, self._begun = number, epochs, self._counted()
        self._await(self._reported + self._between * AT_LEAST, self._begun + (self._batches or 0))
        if self.reports.rank == 0:
            self.reports.report("epoch", epoch=number, epochs=epochs)

    def batches_done(self, number: int) -> None:
        """So many of this epoch, by another process, before the first."""
        self._begun -= number

    def metrics(self, values: Mapping[str, Any]) -> None:
        """What an epoch came to, as far as that is numbers."""
        if self.reports.rank == 0:
            numbers = self.reports.finite_numbers(values, self.epoch, self._counted())
            self.reports.report("metrics", epoch=self.epoch, values=numbers)


def counter() -> tuple[Callable[[], bool], Callable[[], int], Callable[[float, int], None]]:
    """Counts a step and says whether it is to be reported; the number of steps; until when, and for which, to wait.

    The first is called in each step of a training: variables of a function cost half of what attributes do.
    """
    count, due, last, clock = 0, 0.0, 0, monotonic

    def step() -> bool:
        nonlocal count
        count += 1
        return clock() >= due or count == last

    def counted() -> int:
        return count

    def wait(until: float, step: int) -> None:
        nonlocal due, last
        due, last = until, step

    return step, counted, wait


def _memory() -> int | None:
    import torch

    return torch.cuda.memory_allocated() if torch.cuda.is_initialized() else None  # type: ignore[no-untyped-call]
