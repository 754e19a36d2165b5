"""States of a run to show, made as real ones are: by folding events."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from nbddp.diagnostics import Diagnostic
from nbddp.run.state.fold import fold, fold_all
from nbddp.run.state.state import RunState
from nbddp.sentence import sentence

START = 1_000_000.0
WARNING = Diagnostic(
    "loaders",
    "warning",
    sentence("'%1' is kept whole", "val_loader"),
    7,
    12,
    1,
    sentence("build it in a cell"),
    sentence("its use is unclear"),
)


def events(
    steps: int, *, world: int = 2, epochs: int = 10, per_epoch: int = 30, **launch: Any
) -> Iterator[dict[str, Any]]:
    """A training of digits, up to this many steps."""
    yield {"event": "launch", "time": START, "rank": None, "name": "digits", "start": "warm", "nproc": world} | launch
    for rank in range(world):
        device = {"device": f"cuda:{rank}", "device_name": "A fast one", "pid": 10 + rank}
        yield {"event": "rank", "time": START + 0.1, "rank": rank, "world_size": world, **device}
    for step in range(steps):
        yield from step_events(step, world, epochs, per_epoch)


def step_events(step: int, world: int, epochs: int, per_epoch: int) -> Iterator[dict[str, Any]]:
    """What is reported with one step, and the epochs that begin and end there."""
    epoch, batch = divmod(step, per_epoch)
    time = START + 1 + step * 0.02
    if batch == 0:
        yield {"event": "epoch", "time": time, "rank": 0, "epoch": epoch, "epochs": epochs}
    where = {"epoch": epoch, "batch": batch + 1, "batches": per_epoch, "step": step + 1, "steps": epochs * per_epoch}
    for rank in range(world):
        values = {"loss": 2.3 * math.exp(-step / 90) + 0.1 + 0.05 * math.sin(step * 12.9)}
        yield {"event": "step", "time": time, "rank": rank, "values": values, "memory": 1_300_000_000 + rank, **where}
    if batch == per_epoch - 1:
        good = math.exp(-epoch / 3)
        values = {"train_loss": 2.1 * good + 0.1, "val_loss": 2.1 * good + 0.2, "accuracy": 1 - 0.9 * good}
        yield {"event": "metrics", "time": time, "rank": 0, "epoch": epoch, "values": values}


def running(steps: int = 220, **more: Any) -> RunState:
    return fold_all(RunState(), events(steps, **more))


def ended(state: RunState, status: int = 0) -> RunState:
    return fold(state, {"event": "exit", "time": START + 60, "rank": None, "status": status})


def failed() -> RunState:
    error = {
        "event": "error",
        "type": "ValueError",
        "message": "sizes <differ>",
        "text": "Traceback\n  line 81\nValueError",
    }
    state = fold(running(100), {**error, "rank": 1, "time": START + 5})
    victim = {"event": "error", "rank": 0, "time": START + 4, "type": "RuntimeError", "message": "x", "victim": True}
    return ended(fold(state, victim), 1)


@dataclass
class FakeRun:
    """What a feed follows; a test sets what it shows."""

    state: RunState = field(default_factory=running)
    logs: dict[int, str] = field(default_factory=dict)
    read: Callable[[int], str | Sequence[str]] | None = None

    def log_tail(self, rank: int) -> str | Sequence[str]:
        return self.read(rank) if self.read else self.logs.get(rank, "")

    def printed(self, *, last: bool) -> list[str]:
        return ["the last word"] if last else []
