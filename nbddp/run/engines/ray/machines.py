"""The main process of a run under Ray: one actor on each machine, which starts the ranks there and ends with this.

The ranks themselves know nothing of Ray: they are started as torchrun would start them.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from nbddp.run.engines.ray.engine import TIED
from nbddp.run.engines.ray.room import ROOM
from nbddp.run.folder.folder import RunFolder
from nbddp.run.state.events import append

LOST = "A machine of the Ray cluster was lost ({nodes}). The run's last checkpoint is kept: --resume continues it."


class Machine:
    """The ranks of one machine. Its code goes there by value: another machine need not find nbddp for it."""

    def place(self) -> tuple[str, int, str]:
        """An address of this machine that the others reach, a port that is free there, and its name."""
        import platform
        import socket

        import ray

        with socket.socket() as s:
            s.bind(("", 0))
            return ray.util.get_node_ip_address(), s.getsockname()[1], platform.node()

    def run(self, argv: list[str], cwd: str, log: str, environ: dict[str, str], count: int) -> list[int]:
        """Start them, and wait until all have ended, or one has failed: then the others end, too."""
        import os
        import subprocess
        import sys
        import time

        first, processes = int(environ["FIRST"]), []
        tied = [sys.executable, "-I", "-S", "-c", environ["TIED"], str(os.getpid())]
        for local in range(count):
            own = {"RANK": str(first + local), "LOCAL_RANK": str(local), "LOCAL_WORLD_SIZE": str(count)}
            with open(log, "ab", buffering=0) as out:  # noqa: PTH123
                environment = {**os.environ, **environ, **own}
                processes.append(subprocess.Popen([*tied, *argv], cwd=cwd, env=environment, stdout=out, stderr=out))
        while any(p.poll() is None for p in processes) and not any(p.poll() for p in processes):
            time.sleep(0.1)
        until = time.monotonic() + 5.0
        while any(p.poll() is None for p in processes) and time.monotonic() < until:
            time.sleep(0.1)
        for process in processes:
            process.kill()
        return [process.wait() for process in processes]


def main() -> None:
    import ray
    from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

    folder, argv = RunFolder(Path(sys.argv[2])), sys.argv[3:]
    ray.init(address="auto", namespace=folder.name, log_to_driver=False)
    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])
    room = ray.util.get_placement_group(ROOM)
    made = ray.remote(Machine)
    machines = [
        made.options(
            num_cpus=each["CPU"], num_gpus=each.get("GPU", 0),
            scheduling_strategy=PlacementGroupSchedulingStrategy(room, placement_group_bundle_index=number),
        ).remote()
        for number, each in enumerate(room.bundle_specs)
    ]  # fmt: skip
    counts = [int(each["CPU"]) for each in room.bundle_specs]
    places = ray.get([machine.place.remote() for machine in machines])
    address, port, _ = places[0]
    shared = {
        **{name: value for name, value in os.environ.items() if name.startswith("NBDDP_")},
        "MASTER_ADDR": address, "MASTER_PORT": str(port), "WORLD_SIZE": str(sum(counts)),
        "TIED": TIED, "OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", "1"),
    }  # fmt: skip
    cwd = str(folder.read_command().get("cwd", "."))
    waiting: dict[Any, str] = {
        machine.run.remote(
            argv, cwd, str(folder.stderr), {**shared, "FIRST": str(sum(counts[:number]))}, counts[number]
        ): places[number][2]
        for number, machine in enumerate(machines)
    }
    while waiting:
        done, _ = ray.wait(list(waiting))
        try:
            statuses = ray.get(done[0])
        except ray.exceptions.RayError:
            append(folder, "error", type="MachineLost", message=LOST.format(nodes=waiting[done[0]]), text="",
                   traceback=[], victim=False)  # fmt: skip
            sys.exit(1)
        if failed := next((abs(status) for status in statuses if status), 0):
            sys.exit(min(failed, 255))
        del waiting[done[0]]
