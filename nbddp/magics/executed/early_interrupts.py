"""Interrupts that come after a cell has begun, and before its magic is there to hold them back."""

from __future__ import annotations

import re
import signal
import threading
from types import FrameType
from typing import Any

OURS = re.compile(r"^%%(?:ddp|dp|single)_train\b", re.MULTILINE)


class EarlyInterrupts:
    """Raised as ever, and noted: IPython prints one that breaks into a callback of its events, and runs the cell."""

    def __init__(self) -> None:
        self.came = False
        self._before: Any = None

    def begins(self, info: Any) -> None:
        """A cell is about to run."""
        self.came = False
        if threading.current_thread() is not threading.main_thread() or not OURS.search(info.raw_cell):
            return
        before = signal.getsignal(signal.SIGINT)
        if callable(before) and before != self._on:
            self._before = before
            signal.signal(signal.SIGINT, self._on)

    def ended(self, _result: Any) -> None:
        """It has run; whoever has set another handler meanwhile keeps it."""
        if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGINT) == self._on:
            signal.signal(signal.SIGINT, self._before)

    def check(self) -> None:
        """Raise what came before."""
        if self.came:
            self.came = False
            raise KeyboardInterrupt

    def _on(self, number: int, frame: FrameType | None) -> None:
        self.came = True
        self._before(number, frame)
