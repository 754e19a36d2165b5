"""What a run tells whoever started it; nothing at all where nobody listens."""

# mypy: ignore-errors
# ruff: noqa: PLW2901

import contextlib
import json
import math
import os
import time
from types import SimpleNamespace

import torch

progress = SimpleNamespace(
    loop=0, begun=set(), carried={}, epoch=0, epochs=None, step=0, batch=0, due=0.0, not_finite=set()
)


def report(event, **fields):
    """Appends a line of JSON to the file that NBDDP_EVENTS names; a full disk does not end the training."""
    if path := os.environ.get("NBDDP_EVENTS"):
        line = {"event": event, "time": time.time(), "rank": int(os.environ["RANK"]), **fields}
        with contextlib.suppress(OSError):
            file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            os.write(file, json.dumps(line, default=str).encode() + b"\n")
            os.close(file)


def report_step(batches=None, **values):
    """Tells how far training is, ten times a second at most: to look at a value is to wait for the device."""
    if "NBDDP_EVENTS" not in os.environ:
        return
    progress.step += 1
    progress.batch += 1
    now = time.monotonic()
    if now < progress.due - (0.09 if progress.batch in (1, batches) else 0):
        return
    progress.due = now + 0.1
    report(
        "step",
        epoch=progress.epoch,
        step=progress.step,
        steps=progress.epochs * batches if progress.epochs and batches else None,
        batch=progress.batch,
        batches=batches,
        values=finite_numbers(values),
        memory=torch.cuda.memory_allocated() if torch.cuda.is_initialized() else None,
    )


def report_epoch(**values):
    """Tells what an epoch came to, as far as that is numbers."""
    if os.environ["RANK"] == "0" and "NBDDP_EVENTS" in os.environ:
        report("metrics", epoch=progress.epoch, values=finite_numbers(values))


def epoch_begins(number, epochs=None):
    progress.epoch, progress.epochs, progress.batch = number, epochs, 0
    if os.environ["RANK"] == "0":
        report("epoch", epoch=number, epochs=epochs)


def finite_numbers(values):
    """The numbers among the values; the first of a name that is not finite is reported."""
    numbers = {}
    for name, value in values.items():
        if math.prod(getattr(value, "shape", ())) == 1 and hasattr(value, "item"):
            value = value.item()
        if isinstance(value, (int, float)):
            numbers[name] = value
    for name in [name for name, number in numbers.items() if not math.isfinite(number)]:
        del numbers[name]
        if name not in progress.not_finite:
            progress.not_finite.add(name)
            report("nan", epoch=progress.epoch, step=progress.step, name=name)
    return numbers
