"""Lines of JSON at the end of a run's file of events."""

from __future__ import annotations

import contextlib
import json
import math
import os
import time
from collections.abc import Mapping
from typing import Any


class Reports:
    """What one process tells. A full disk does not end a training."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.rank = 0  # until the script has said which of its processes this is
        self.world_size = 1
        self._not_finite: set[str] = set()

    def report(self, event: str, **fields: object) -> None:
        """Append one event."""
        line = {"event": event, "time": time.time(), "rank": self.rank, **fields}
        with contextlib.suppress(OSError):
            file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            try:
                os.write(file, json.dumps(line, default=str).encode() + b"\n")
            finally:
                os.close(file)

    def finite_numbers(self, values: Mapping[str, Any], epoch: int, step: int) -> dict[str, float]:
        """The numbers among the values; the first of a name that is not finite is an event of its own."""
        numbers: dict[str, float] = {}
        for name, value in values.items():
            number = value.item() if math.prod(getattr(value, "shape", ())) == 1 and hasattr(value, "item") else value
            if isinstance(number, int | float):
                numbers[name] = number
        for name in [name for name, number in numbers.items() if not math.isfinite(number)]:
            del numbers[name]
            if name not in self._not_finite:
                self._not_finite.add(name)
                self.report("nan", epoch=epoch, step=step, name=name)
        return numbers
