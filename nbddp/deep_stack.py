"""Room for code that is nested deeper than Python's own limit lets a compiler follow.

Who reads a tree calls itself at each level of it, and Python stops at a thousand frames, the kernel's among them.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from functools import partial
from typing import NoReturn, TypeVar

T = TypeVar("T")

FRAMES = 50_000
BYTES = 512 << 20  # of addresses: what is not used takes no memory
_starting = threading.Lock()  # the size of a stack is the interpreter's
_here = threading.local()
_deep = threading.Lock()  # and so is the limit


class TooDeep(Exception):
    """Not even the larger stack is enough."""


def with_room(work: Callable[[], T]) -> T:
    """What it gives; where the stack is used up, all of it is done again with more room, by the outermost that asks."""
    if getattr(_here, "asked", False):
        return work()
    _here.asked = True
    try:
        return work()
    except RecursionError:
        pass
    finally:
        _here.asked = False
    done: list[Callable[[], T]] = []
    with _starting:
        size = threading.stack_size(BYTES)
        try:
            thread = threading.Thread(target=_finish, args=(done, work), daemon=True)
            thread.start()
        finally:
            threading.stack_size(size)
    thread.join()
    return done[0]()


def _finish(done: list[Callable[[], T]], work: Callable[[], T]) -> None:
    """The limit is put back here, where nothing is deep any more: Python dies where it is lowered below a stack."""
    with _deep:
        _here.asked = True
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(FRAMES)
        try:
            value = work()
            done.append(lambda: value)
        except RecursionError:
            done.append(partial(_fail, TooDeep()))
        except BaseException as error:  # noqa: BLE001 -- raised again by who waits
            done.append(partial(_fail, error))
        finally:
            sys.setrecursionlimit(limit)


def _fail(error: BaseException) -> NoReturn:
    raise error
