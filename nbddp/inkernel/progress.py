"""What a cell tells while it trains, kept in memory and folded as the events of any run are."""

from __future__ import annotations

import math
import operator
import threading
import time
from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

from nbddp.run.state.fold import fold
from nbddp.run.state.state import RunState
from nbddp.run.watching.samples import samples_in

T = TypeVar("T")
EVERY = 0.1  # seconds: to look at a loss is to wait for the device
MOST_LINES = 2000  # printed lines that wait to be looked at


class Progress:
    """Filled by the thread that trains, read by the one that shows."""

    def __init__(self) -> None:
        self._state = RunState()
        self._lock = threading.Lock()
        self._lines: deque[str] = deque(maxlen=MOST_LINES)
        self._epoch, self._epochs = 0, None  # type: int, int | None
        self._step = self._batch = self._said = 0
        self._due = 0.0
        self._untold: dict[str, Any] = {}  # values of the steps since the last that was told
        self._not_finite: set[str] = set()
        self.stop_asked = False

    @property
    def state(self) -> RunState:
        """What is known by now, the printed lines included."""
        while self._lines:
            self.put("line", rank=0, text=self._lines.popleft())
        return self._state

    def put(self, event: str, **fields: Any) -> None:
        """As a script's `report` does, without a file."""
        with self._lock:
            self._state = fold(self._state, {"event": event, "time": time.time(), "rank": 0, **fields})

    def printed(self, text: str) -> None:
        """A line of the cell's output."""
        self._lines.append(text)

    def report_step(self, batches: int | None = None, batch: tuple[Any, ...] = (), /, **values: Any) -> None:
        """Ten times a second at most; the first and the last of an epoch a little oftener."""
        self._step += 1
        self._batch += 1
        now = time.monotonic()
        if now < self._due - (0.09 if self._batch in (1, batches) else 0):
            self._untold = values
            return
        self._due = now + EVERY
        self._say_step(batches, values, samples_in(batch))

    def _say_step(self, batches: int | None, values: dict[str, Any], samples: int | None = None) -> None:
        self._said, self._untold = self._step, {}
        self.put(
            "step",
            epoch=self._epoch,
            step=self._step,
            steps=self._epochs * batches if self._epochs and batches else None,
            batch=self._batch,
            batches=batches,
            samples=samples,
            values=self._finite(values),
            memory=_memory(),
        )

    def catch_up(self) -> None:
        """The last steps, which came too fast to be told."""
        if self._said < self._step:
            self._say_step(self._state.batches, self._untold)

    def report_epoch(self, **values: Any) -> None:
        """What an epoch came to, as far as that is numbers."""
        self.put("metrics", epoch=self._epoch, values=self._finite(values))

    def epochs(self, epochs: Iterable[T]) -> Iterator[T]:
        """The same epochs; they end after the one in which somebody asks for it."""
        total = operator.length_hint(epochs) or None
        for number, epoch in enumerate(epochs):
            self.epoch_begins(number, total)
            yield epoch
            if self.epoch_done():
                break

    def epoch_begins(self, number: int, epochs: int | None = None) -> None:
        self._epoch, self._epochs, self._batch = number, epochs, 0
        self.put("epoch", epoch=number, epochs=epochs)

    def epoch_done(self) -> bool:
        return self.stop_asked

    def _finite(self, values: dict[str, Any]) -> dict[str, float]:
        """The numbers among the values; of a name that is not finite, the first time is told."""
        numbers: dict[str, float] = {}
        for name, value in values.items():
            if math.prod(getattr(value, "shape", ())) == 1 and hasattr(value, "item"):
                value = value.item()  # noqa: PLW2901
            if not isinstance(value, int | float):
                continue
            if math.isfinite(value):
                numbers[name] = value
            elif name not in self._not_finite:
                self._not_finite.add(name)
                self.put("nan", epoch=self._epoch, step=self._step, name=name)
        return numbers


def _memory() -> int | None:
    import torch

    return torch.cuda.memory_allocated() if torch.cuda.is_initialized() else None  # type: ignore[no-untyped-call]
