"""Room for code that is nested deeper than Python's own limit lets a compiler follow.

Who reads a tree calls itself at each level of it, and Python stops at a thousand frames, the kernel's among them.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

T = TypeVar("T")

FRAMES = 50_000
BYTES = 512 << 20  # of addresses: what is not used takes no memory
_starting = threading.Lock()  # the size of a stack is the interpreter's
_deep = threading.Lock()  # and so is the limit


def with_room(work: Callable[[], T]) -> T:
    """What it gives; with more room where the stack is used up. A RecursionError says that not even that is enough."""
    try:
        return work()
    except RecursionError:
        if sys.getrecursionlimit() >= FRAMES:
            raise
    done: Future[T] = Future()
    with _starting:
        size = threading.stack_size(BYTES)
        try:
            threading.Thread(target=_finish, args=(done, work), daemon=True).start()
        finally:
            threading.stack_size(size)
    return done.result()


def _finish(done: Future[T], work: Callable[[], T]) -> None:
    """The limit is put back here, where nothing is deep any more: Python dies where it is lowered below a stack."""
    with _deep:
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(FRAMES)
        try:
            done.set_result(work())
        except BaseException as error:  # noqa: BLE001 -- raised again by who waits
            done.set_exception(error)
        finally:
            sys.setrecursionlimit(limit)
