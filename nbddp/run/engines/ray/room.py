"""The process that Ray starts for a run: it waits for room on as many machines, and has the run looked after there.

What it has reserved goes with it; and whatever it has started ends with it.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from nbddp.run.engines.ray.engine import BEGIN, ROOT, TIED
from nbddp.run.folder.folder import RunFolder
from nbddp.run.state.events import append

ROOM = "nbddp"  # what the reservation is called, in a namespace of the run's own
TOO_MUCH = "The cluster has no {nodes} machines with {each} now: the run waits until it has."


def main() -> None:
    import ray

    path, nodes, nproc, gpus = sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), sys.argv[5]
    folder = RunFolder(Path(path))
    ray.init(address="auto", namespace=folder.name, log_to_driver=False)
    there = [node["Resources"] for node in ray.nodes() if node["Alive"]]
    each = {"CPU": nproc}
    if wanted := int(gpus) if gpus else nproc * any(r.get("GPU", 0) >= nproc for r in there):
        each["GPU"] = wanted
    if sum(all(r.get(name, 0) >= count for name, count in each.items()) for r in there) < nodes:
        said = " and ".join(f"{count} {name}s" for name, count in each.items())
        append(folder, "warning", message=TOO_MUCH.format(nodes=nodes, each=said))
    room = ray.util.placement_group([each] * nodes, strategy="STRICT_SPREAD", name=ROOM)
    ray.get(room.ready())
    sys.exit(_look_after(path))


def _look_after(path: str) -> int:
    """Until the run is over. The supervisor leads a session of its own; a job that is stopped stops it."""
    tied = [sys.executable, "-I", "-S", "-c", TIED, str(os.getpid())]
    words = [*tied, sys.executable, "-c", BEGIN.format("in_job") + "main(sys.argv[2])", str(ROOT), path]
    process = subprocess.Popen(words, start_new_session=True)

    def pass_on(number: int, _: Any) -> None:
        process.send_signal(number)

    signal.signal(signal.SIGTERM, pass_on)
    return abs(process.wait())
