"""What a notebook calls around each epoch, so that two jobs on the same nodes take turns, an epoch each.

Whose turn it is stands in a file of the folder that they work in. Each process keeps the seconds of its epochs.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

LANES = ("srun", "run")
TURN = Path("turn")
AGAIN = 0.01  # seconds between two looks: a process that waits takes no core from the one that is timed

_began: list[float] = []


def begin(lane: str) -> None:
    _place(lane).with_suffix(".ready").touch()
    while _whose() != lane:
        time.sleep(AGAIN)
    _began[:] = time.perf_counter(), time.process_time()


def end(lane: str) -> None:
    """The first process passes the turn on; the others wait until it has, or they would be ahead in the next epoch."""
    seconds, cpu = time.perf_counter() - _began[0], time.process_time() - _began[1]
    with _place(lane).open("a") as file:
        file.write(f"{seconds} {cpu}\n")
    if _rank() == 0:
        pass_to(LANES[lane == LANES[0]])
    while _whose() == lane:
        time.sleep(AGAIN)


def pass_to(lane: str, folder: Path = Path()) -> None:
    new = folder / "turn.new"
    new.write_text(lane)
    new.replace(folder / TURN)


def _whose() -> str:
    return TURN.read_text() if TURN.exists() else ""


def _rank() -> int:
    return int(os.environ.get("SLURM_PROCID", "0"))


def _place(lane: str) -> Path:
    return Path(f"{lane}-{_rank()}.txt")
