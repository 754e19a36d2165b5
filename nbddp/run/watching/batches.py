"""The batches of an epoch: where in it a training is, so that it can be left there and gone on with at the next one.

What counts them, skips those that are done and decides when is what scripts have for checkpoints of their own.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from nbddp.run.watching.checkpoints import of_all, values_in, values_of, write
from nbddp.run.watching.pausing import pause
from nbddp.run.watching.progress import Progress
from nbddp.run.watching.random_numbers import random_state
from nbddp.run.watching.settings import Settings

LOOK_EVERY = 0.5  # seconds, for the file by which one asks for a pause: it may be on another machine's disk
Values = Callable[[], Mapping[str, Any]]


class Batches:
    """Those of the loop over epochs that runs, if it can be left in the middle of an epoch."""

    def __init__(self, settings: Settings, progress: Progress, left: Values = dict) -> None:
        self.settings, self.progress, self.left = settings, progress, left
        self.loop, self.state, self.carried = 0, {}, None  # type: tuple[int, Mapping[str, Any], Values | None]
        self._look_at = 0.0

    @cached_property
    def parts(self) -> Any:
        """As a script has them; the import needs torch, which is there by the time that there are batches."""
        from nbddp.script.parts import checkpoints as untyped

        checkpoints: Any = untyped
        own = checkpoints.checkpoints
        own.file, own.resume = self.settings.checkpoint, self.settings.resume
        own.every, own.unit = checkpoints.interval(self.settings.checkpoint_every)
        return checkpoints

    def begin(self, loop: int, state: Mapping[str, Any], carried: Values | None, saved: Mapping[str, Any]) -> None:
        """A loop over epochs begins, or goes on from what was saved of it."""
        self.loop, self.state, self.carried = loop, state, carried
        if saved.get("batches") and carried is None:
            raise SystemExit(
                f"{self.settings.resume} was written in the middle of an epoch, where this training cannot continue: "
                "its loop over batches is another one now. Take a checkpoint from the end of an epoch."
            )
        if carried is not None:
            own = self.parts.checkpoints
            own.batches, own.order, own.began = int(saved.get("batches", 0)), saved.get("order"), random_state()
            own.ranks = [{**r, "so_far": values_in(r)} for r in saved["ranks"]] if saved.get("batches") else None

    def epoch_ends(self) -> None:
        """The next one begins with its first batch."""
        if self.carried is not None:
            own = self.parts.checkpoints
            if own.ranks is not None:
                raise RuntimeError("the batches that were done before the checkpoint have not been left out")
            own.batches, own.order, own.began, own.unsaved = 0, None, random_state(), 0
            own.written = time.monotonic()

    def rest(self, loader: Any, so_far: Values) -> Any:
        """What the loop goes through in place of its loader."""
        return loader if self.carried is None else Rest(self, loader, so_far)

    def numbered(self, first: int) -> int:
        """The number of the first batch of these."""
        return first if self.carried is None else first + self.parts.checkpoints.batches

    def so_far(self, name: str, value: Any, how: str | None) -> Any:
        """What it had come to at the checkpoint."""
        return value if self.carried is None else self.parts.checkpoints.so_far(name, value, how)

    def look(self, so_far: Values) -> None:
        """After a batch: all processes come by here equally often, and write a checkpoint where it is time to."""
        own, now = self.parts.checkpoints, time.monotonic()
        if self.settings.pause and self.progress.reports.rank == 0 and now >= self._look_at:
            own.asked, self._look_at = int(Path(self.settings.pause).exists()), now + LOOK_EVERY
        if own.due():
            self._save(own, so_far())

    def _save(self, own: Any, so_far: Mapping[str, Any]) -> None:
        assert self.settings.checkpoint is not None
        assert self.carried is not None
        values, on_gpu = values_of(so_far)
        ranks = of_all({"random": random_state(), "began": own.began, "values": values, "on_gpu": on_gpu,
                        "asked": own.asked})  # fmt: skip
        own.unsaved, own.written = 0, time.monotonic()
        if any(rank["values"].keys() != so_far.keys() for rank in ranks):  # of which has been said
            own.stops = False
            return
        place = {"loop": self.loop, "epochs_done": self.progress.epoch, "left": False, "steps": self.progress.taken(),
                 "batches": own.batches, "order": own.order, "random": [rank.pop("began") for rank in ranks],
                 "ranks": ranks, **self.left()}  # fmt: skip
        if write(self.settings.checkpoint, place, self.state, self.carried()):
            self.progress.reports.report(
                "checkpoint", epoch=self.progress.epoch, batch=own.batches, path=self.settings.checkpoint
            )
        if any(rank["asked"] for rank in ranks):
            pause(self.progress.reports)


class Rest:
    """A loader, in a loop that can be left and gone on with. Between two batches is where all processes come by."""

    def __init__(self, batches: Batches, loader: Any, so_far: Values) -> None:
        self._batches, self._so_far = batches, so_far
        self._rest = batches.parts.RestOf(loader)

    def __len__(self) -> int:
        return len(self._rest)

    def __iter__(self) -> Iterator[Any]:
        batches = self._batches
        batches.progress.batches_done(batches.parts.checkpoints.batches)
        for batch in self._rest:
            yield batch
            if batches.settings.within_epochs:
                batches.look(self._so_far)
