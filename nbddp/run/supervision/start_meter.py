"""The forked process that becomes the meter: an interpreter of its own, in which packages are found as the script's."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NoReturn

from nbddp.run.folder.folder import RunFolder

METER = Path(__file__).with_name("meter.py")


def become_meter(folder: RunFolder, gpus: Mapping[int, Mapping[str, str]]) -> NoReturn:
    """Its errors are of no interest to anybody."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nowhere, descriptor)
    told = json.dumps({str(rank): gpu for rank, gpu in gpus.items()})
    os.execv(sys.executable, [sys.executable, str(METER), str(folder.own_events()), told])
