"""Forked processes that become the meter, or write scalars: interpreters of their own, with the script's packages."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NoReturn

from nbddp.run.folder.folder import RunFolder

ROOT = Path(__file__).resolve().parents[3]
SCALARS = (
    "import sys; sys.path.append(sys.argv[1]); from nbddp.run.supervision.scalars import main; "
    "main(sys.argv[2], int(sys.argv[3]))"
)
METER = Path(__file__).with_name("meter.py")


def become_meter(folder: RunFolder, gpus: Mapping[int, Mapping[str, str]]) -> NoReturn:
    """Its errors are of no interest to anybody."""
    _say_nothing()
    told = json.dumps({str(rank): gpu for rank, gpu in gpus.items()})
    os.execv(sys.executable, [sys.executable, str(METER), str(folder.own_events()), told])


def become_scalars(folder: RunFolder, main: int) -> NoReturn:
    """What goes wrong there it tells itself. Asked to end before it can write, it writes first."""
    _say_nothing()
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})  # until it has a handler
    os.execv(sys.executable, [sys.executable, "-c", SCALARS, str(ROOT), str(folder.path), str(main)])


def _say_nothing() -> None:
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nowhere, descriptor)
