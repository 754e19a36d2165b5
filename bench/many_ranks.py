"""What of a run grows with its ranks: the rendezvous, events, logs and checkpoints; measured on this machine's cores.

For more ranks than that, the events of a run are made up, as so many ranks tell them, and what attaches to it is timed.

    python -m bench.many_ranks [RANKS ...]       2 4 8 16 32, if none are named
"""

from __future__ import annotations

import json
import multiprocessing
import os
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch.distributed as dist

from nbddp.export import export
from nbddp.notebook import notebook_from_percent
from nbddp.run.folder.folders import create
from nbddp.run.run import Run
from nbddp.run.start.command import Origin, RunOptions
from tests.cluster.conftest import NOTEBOOK

MANY, MINUTES = 1000, 10  # made up
OTHERS = 100  # reports a second at first, of all ranks but one: see nbddp.run.watching.progress
EPOCHS = 30


def main(*ranks: int) -> None:
    print(
        "ranks  rendezvous   start, s   events: begin and end, kB   while training, kB/s   checkpoint, kB   log files"
    )
    for number in ranks or (2, 4, 8, 16, 32):
        with TemporaryDirectory() as folder:
            print(f"{number:5} {rendezvous(number):8.2f} s {_of_run(Path(folder), number)}")
    with TemporaryDirectory() as folder:
        _attach_to_many(Path(folder))


def rendezvous(number: int) -> float:
    """Seconds until the last of so many processes has met the others; torch is imported already."""
    fork = multiprocessing.get_context("fork")
    found = fork.Queue()
    with TemporaryDirectory() as folder:
        processes = [fork.Process(target=_meet, args=(rank, number, folder, found)) for rank in range(number)]
        began = time.monotonic()
        for process in processes:
            process.start()
        last = max(found.get() for _ in processes)
        for process in processes:
            process.join()
    return float(last - began)


def _meet(rank: int, number: int, folder: str, found: Any) -> None:
    dist.init_process_group("gloo", init_method=f"file://{folder}/store", rank=rank, world_size=number)
    dist.barrier()
    found.put(time.monotonic())
    dist.barrier()
    dist.destroy_process_group()


def _of_run(folder: Path, number: int) -> str:
    script = export(notebook_from_percent(NOTEBOOK.read_text(), "long.py"))
    own = ("--epochs", str(EPOCHS), "--pause", "0.02")
    environ = {**os.environ, "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}
    options = RunOptions(nproc=number, arguments=own)
    origin = Origin(sys.executable, folder, environ)
    run = Run.start(script.text, "long", options, root=folder, origin=origin, watch=script.watch)
    state = run.wait()
    lines = run.folder.events.read_text().splitlines()
    told = [json.loads(line) for line in lines]
    at = [event["time"] for event in told if event["event"] in {"step", "metrics", "epoch"}]
    size = {again: sum(len(t) + 1 for t, e in zip(lines, told, strict=True) if (e["event"] == "step") is again)
            for again in (False, True)}  # fmt: skip
    start = (state.first_step or 0.0) - (state.started or 0.0)
    checkpoint = run.folder.checkpoint.stat().st_size / 1000
    logs = len(list(run.folder.logs.glob("rank*.log")))
    return (
        f"{start:9.1f} {size[False] / 1000:26.1f} {size[True] / 1000 / (max(at) - min(at)):22.1f} "
        f"{checkpoint:16.1f} {logs:11}"
    )


def _attach_to_many(folder: Path) -> None:
    made = create(folder, "many")
    began = time.time()
    with made.events.open("w") as file:
        for event in _told(began):
            file.write(json.dumps(event) + "\n")
    size, before = made.events.stat().st_size / 1e6, time.perf_counter()
    state = Run.attach(made).state
    seconds = time.perf_counter() - before
    assert len(state.ranks) == MANY
    print(f"\n{MANY} ranks, {MINUTES} minutes: {size:.1f} MB of events, attached to in {seconds:.2f} s")


def _told(began: float) -> list[dict[str, Any]]:
    common = {"device": "cuda:0", "device_name": "NVIDIA H100 80GB HBM3", "world_size": MANY, "uuid": "x" * 36}
    place = ["/home/somebody/project/.nbddp/runs/20260101-000000-many/script.py", 100, "train"]
    events: list[dict[str, Any]] = [{"event": "launch", "time": began, "rank": None, "nproc": MANY, "name": "many"}]
    events += [{"event": "rank", "time": began, "rank": r, "host": f"node{r // 8}", **common} for r in range(MANY)]
    for tenth in range(MINUTES * 600):
        others = [1 + (tenth * OTHERS // 10 + one) % (MANY - 1) for one in range(OTHERS // 10)]
        for rank in (0, *others):
            events.append({"event": "step", "time": began + tenth / 10, "rank": rank, "epoch": 0, "step": tenth + 1,
                           "steps": 10**6, "batch": tenth + 1, "batches": 10**6, "samples": 32, "memory": 10**9,
                           "values": {"loss": 0.5}, "place": place})  # fmt: skip
    return events


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
