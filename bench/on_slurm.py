"""What nbddp adds to a job of SLURM: from a cell to *queued*, and steps per second against `srun` of the same script.

On the two machines of tests/cluster, namespaces of this one with a real SLURM in them (root). Both jobs have the same
nodes at once and take turns, an epoch each (`turns.py`): what else the machine does falls on both alike.

    python -m bench.on_slurm [RUNS [TURNS]]       runs of epochs in turn, and submissions; chrt -r 10 on a busy machine
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.in_turns import Epoch
from bench.notebooks import TRAINING
from bench.turns import LANES, pass_to
from tests.cluster.conftest import Cluster, events, two_machines, why_not
from tests.magics.kernel import Kernel

RUNS = 3
TURNS = 7
EPOCHS = 24
NBDDP = ("python", "-m", "nbddp")
ON = ("--on", "slurm", "--nodes", "2", "--nproc", "1")
NODES = ("--nodes", "2", "--ntasks-per-node", "1")
CELL = "%%ddp_train --on slurm --nodes 2 --nproc 1 --background"


def main(runs: int = RUNS, turns: int = TURNS) -> None:
    if why := why_not():
        print(f"bench.on_slurm is left out: {why}\n")
        return
    with two_machines() as cluster, TemporaryDirectory() as folder:
        seconds = _submissions(cluster, Path(folder), turns)
        pairs = [pair for _ in range(runs) for pair in _epochs_in_turn(cluster)]
    each = "  ".join(f"{one:.2f}" for one in seconds)
    print(f"cell to queued: median {statistics.median(seconds):.2f} s, each {each}   limit: 1")
    speed = [by_srun.seconds / by_run.seconds for by_srun, by_run in pairs]
    cpu = [by_run.cpu / by_srun.cpu for by_srun, by_run in pairs]
    print(f"{len(pairs)} pairs of epochs in turn, --on slurm to srun of the same script (middle half):")
    print(f"steps/s {_middle(speed)}, limit 0.99   CPU time per step {_middle(cpu)}\n")


def _submissions(cluster: Cluster, folder: Path, turns: int) -> list[float]:
    """From a cell's execution to the event *queued*, in a kernel that has run the other cells."""
    kernel = Kernel(folder, around=cluster.words())
    try:
        for cell in ("%load_ext nbddp", *TRAINING[:-1]):
            _execute(kernel, cell)
        return [_submission(cluster, kernel, folder) for _ in range(turns)]
    finally:
        kernel.end()


def _submission(cluster: Cluster, kernel: Kernel, folder: Path) -> float:
    began = time.time()
    _execute(kernel, TRAINING[-1].replace("%%ddp_train", CELL))
    seconds = float(str(events(folder, "queued")[-1]["time"])) - began
    kernel.aside("run.stop('kill')")
    cluster.until(lambda: not cluster.call("squeue", "--noheader", cwd=folder)[1])
    return seconds


def _execute(kernel: Kernel, source: str) -> None:
    reply = kernel.run(source, timeout=300)
    if reply.status != "ok":
        raise SystemExit(f"{source}\n{reply.error}\n{reply.text}")


def _epochs_in_turn(cluster: Cluster) -> list[tuple[Epoch, Epoch]]:
    """Of both, one right after the other; the first epochs of each are not counted: they warm up."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "trained.py").write_text(_notebook())
        _done(cluster.start(*NBDDP, "export", "trained.py", "--slurm", cwd=folder))
        jobs = [
            cluster.start("srun", *NODES, "python", "trained_ddp.py", "--lane", LANES[0], cwd=folder),
            cluster.start(*NBDDP, "run", "trained.py", *ON, "--", "--", "--lane", LANES[1], cwd=folder),
        ]
        cluster.until(lambda: len(list(folder.glob("*.ready"))) == 2 * len(LANES) or any(j.poll() for j in jobs))
        pass_to(LANES[0], folder)
        for job in jobs:
            _done(job)
        by_srun, by_run = (_of_lane(folder, lane) for lane in LANES)
        return list(zip(by_srun, by_run, strict=True))[2:]


def _notebook() -> str:
    """The training of the other benchmarks, which says where its epochs begin and end."""
    *cells, loop = TRAINING
    loop = loop.replace("%%ddp_train\n", "").replace(
        "epoch in range(epochs):\n", "epoch in range(epochs):\n    begin(lane)\n"
    )
    cells = [cells[0] + "\nfrom bench.turns import begin, end", *cells[1:], loop + "\n    end(lane)"]
    cells[1] = f'tags=["parameters"]\nlane = ""\n{cells[1]}'.replace("epochs = 12", f"epochs = {EPOCHS}")
    return "".join(f"# %% {cell}\n" if cell.startswith("tags=") else f"# %%\n{cell}\n" for cell in cells)


def _done(process: subprocess.Popen[str]) -> None:
    text, _ = process.communicate(timeout=600)
    if process.returncode:
        raise SystemExit(f"{process.args} failed:\n{text}")


def _of_lane(folder: Path, lane: str) -> list[Epoch]:
    """The seconds are the first process's, the CPU time is that of both."""
    first, second = ([*map(_epoch, (folder / f"{lane}-{rank}.txt").read_text().splitlines())] for rank in (0, 1))
    return [Epoch(one.seconds, one.cpu + other.cpu) for one, other in zip(first, second, strict=True)]


def _epoch(line: str) -> Epoch:
    seconds, cpu = map(float, line.split())
    return Epoch(seconds, cpu)


def _middle(ratios: list[float]) -> str:
    low, median, high = statistics.quantiles(ratios, n=4)
    return f"{median:.3f} ({low:.3f} to {high:.3f})"


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
