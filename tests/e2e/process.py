"""A command in a session of its own, with a hard limit, that leaves no process behind."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from pathlib import Path

from .outcome import RunFailed

STARTED_BY_A_LAUNCHER = ("RANK", "LOCAL_RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT", "SLURM_PROCID")


def run_alone(command: list[str], folder: Path, logs: Path, seconds: float, **variables: str) -> tuple[str, str, float]:
    """Run in `folder`; return output, error output and the time it took. Output goes to files: no pipe fills up."""
    began = time.monotonic()
    out, err = logs / "stdout.txt", logs / "stderr.txt"
    with out.open("wb") as stdout, err.open("wb") as stderr:
        process = subprocess.Popen(
            command, cwd=folder, env=environment(variables), stdout=stdout, stderr=stderr, start_new_session=True
        )
        try:
            status: int | str = process.wait(seconds)
        except subprocess.TimeoutExpired:
            status = f"still running after {seconds:.0f} s"
        finally:
            left = end_group(process.pid, ended=process.poll() is not None)
            process.wait()
    printed, said = out.read_text(errors="replace"), err.read_text(errors="replace")
    if status != 0 or left:
        problem = f"status {status}" + (f", left processes {left} behind" if left else "")
        raise RunFailed(f"{' '.join(command)}\n{problem}\n{printed[-3000:]}\n{said[-6000:]}")
    return printed, said, time.monotonic() - began


def environment(variables: dict[str, str]) -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if key not in STARTED_BY_A_LAUNCHER}
    kept = {key: value for key, value in kept.items() if not key.startswith("NBDDP_")}
    return kept | {"OMP_NUM_THREADS": "1", "MPLBACKEND": "Agg", "PYTHONUNBUFFERED": "1"} | variables


def end_group(leader: int, *, ended: bool) -> list[int]:
    """The processes that outlived their starter, ended here; none if it was told to stop itself and could not."""
    deadline = time.monotonic() + 5.0
    while ended and _members(leader) and time.monotonic() < deadline:
        time.sleep(0.05)  # helpers of multiprocessing end just after their parent
    left = _members(leader) if ended else []
    if left or not ended:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(leader, signal.SIGKILL)
    return left


def _members(group: int) -> list[int]:
    """Living processes of the group, where the system tells; zombies await only their parent's look."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, member_of = entry.read_text().rpartition(")")[2].split()[:3]
        except (OSError, ValueError):
            continue  # ended meanwhile
        if int(member_of) == group and state != "Z":
            found.append(int(entry.parent.name))
    return found
