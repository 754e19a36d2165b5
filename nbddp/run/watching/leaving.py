"""The end of a process."""

from __future__ import annotations

import atexit
import contextlib
import os
import sys
import threading
from typing import NoReturn

END = os._exit  # without the words for a script that calls it: see processes.py


def leave(code: object) -> NoReturn:
    """End as an interpreter does with this: wait for threads, run what was registered for the exit, flush.

    Python's own end can abort a rank while gloo's threads still let go of tensors, and a training that has gone well
    would be told as failed (pytorch#190489); a forked process must not return into the code of the one it comes from.
    """
    status = 1
    try:
        status = code & 0xFF if isinstance(code, int) else int(code is not None)
        if not isinstance(code, int | None):
            print(code, file=sys.stderr)
        threading._shutdown()  # type: ignore[attr-defined]  # noqa: SLF001 -- as multiprocessing ends its processes
        atexit._run_exitfuncs()  # noqa: SLF001
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(Exception):
                stream.flush()
    finally:
        END(status)
