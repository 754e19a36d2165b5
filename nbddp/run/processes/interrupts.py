"""Interrupts that cannot get lost.

Python raises a KeyboardInterrupt wherever the main thread happens to be. In a finalizer, a callback of the garbage
collector or one of IPython's events it is printed and forgotten; between two steps of a start it leaves half of one.
So while a run is started and waited for an interrupt is counted, which nothing can undo, and whoever starts or waits
looks at the count. It is raised only in work that may be broken off anywhere, and looked for again behind that work.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TypeVar

T = TypeVar("T")


class Interrupts:
    """Those that have come in one held-back piece of work."""

    def __init__(self, holder: FrameType) -> None:
        self.came = 0
        self.answered = 0
        self._holder: FrameType | None = holder

    def on(self, _number: int, frame: FrameType | None) -> None:
        """The handler. Whether to raise is read off the stack: no flag that an interrupt could leave wrong."""
        self.came += 1
        while frame is not None and frame is not self._holder:
            if frame.f_code is breakable.__code__:
                raise KeyboardInterrupt
            frame = frame.f_back

    def release(self) -> None:
        """A frame keeps all of its variables alive."""
        self._holder = None


_held: Interrupts | None = None  # the main thread's innermost


@contextmanager
def held_back() -> Iterator[None]:
    """One that comes meanwhile and is not answered is raised at the end, where the work has not ended in an error.

    Where interrupts are ignored, as in a shell's background job, they stay so.
    """
    global _held  # noqa: PLW0603 -- like the handler, one for the process
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or before in (signal.SIG_IGN, None):
        yield
        return
    outer, mine = _held, Interrupts(sys._getframe(2))  # noqa: SLF001 -- of `with`, beyond contextlib's own
    signal.signal(signal.SIGINT, mine.on)
    _held = mine
    try:
        yield
    finally:
        _held = outer
        signal.signal(signal.SIGINT, before)
        mine.release()
    if mine.came > mine.answered:
        _pass_on(before)


def _pass_on(before: object) -> None:
    """To who would have had it; what is around may itself be held back."""
    if not callable(before):
        raise KeyboardInterrupt
    before(signal.SIGINT, sys._getframe(1))  # noqa: SLF001


def breakable(work: Callable[[], T]) -> T:
    """Work that an interrupt may break off wherever it is. One that got lost in it is raised behind it."""
    check()
    done = work()
    check()
    return done


def check() -> None:
    """Raise an interrupt that was held back and that nobody has answered."""
    if interrupted():
        raise KeyboardInterrupt


def interrupted() -> bool:
    """Whether there is one. Never so in another thread, nor where nothing is held back: there it has been raised."""
    held = _here()
    return held is not None and held.came > held.answered


def answer(most: int | None = None) -> None:
    """What has come is being seen to, or so many of it; the next one counts anew."""
    if held := _here():
        held.answered = held.came if most is None else min(held.came, held.answered + most)


def _here() -> Interrupts | None:
    return _held if threading.current_thread() is threading.main_thread() else None
