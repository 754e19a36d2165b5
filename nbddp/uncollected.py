"""Work without Python's search for cycles, which looks at all that a process holds."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Iterator[None]:
    """The search waits for the end: in a kernel it goes over all of torch, and takes a quarter of a second."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
