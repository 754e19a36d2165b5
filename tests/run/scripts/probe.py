"""Writes down what a script sees of its surroundings, in the main process and in each rank."""

import json
import multiprocessing
import os
import random
import signal
import sys
import threading
from pathlib import Path

import local_module
import numpy as np
import torch
import torch.multiprocessing as mp

random_at_import = random.random()
random.seed(7)
seeded = random.random()


def seen():
    return {
        "name": __name__,
        "file": __file__,
        "main_is_here": sys.modules["__main__"].__dict__ is globals(),
        "argv": sys.argv,
        "path": sys.path,
        "cwd": str(Path.cwd()),
        "variable": os.environ.get("PROBE"),
        "set_by_main": os.environ.get("SET_BY_MAIN"),
        "local": local_module.VALUE,
        "unseeded": random_at_import,
        "seeded": seeded,
        "next": random.random(),
        "numpy": np.random.rand(),
        "torch": torch.rand(1).item(),
        "initial_seed": torch.initial_seed(),
        "start_method": multiprocessing.get_start_method(),
        "process": multiprocessing.current_process().name,
        "daemon": multiprocessing.current_process().daemon,
        "stdin": sys.stdin.read(),
        "signals": [str(signal.getsignal(n)) for n in (signal.SIGTERM, signal.SIGINT, signal.SIGCHLD, signal.SIGHUP)],
        "threads": threading.active_count(),
        "torch_threads": torch.get_num_threads(),
        "cuda": torch.cuda.is_initialized(),
        "flags": sys.flags.isolated,
        "module": type(sys.modules["__main__"].__loader__).__name__ if __name__ == "__main__" else "",
    }


def work(rank, folder, parent):
    facts = seen() | {"child": multiprocessing.parent_process().pid == parent, "rank": rank}
    Path(folder, f"rank{rank}.json").write_text(json.dumps(facts))
    print(f"rank {rank} speaks")


if __name__ == "__main__":
    os.environ["SET_BY_MAIN"] = "yes"
    os.environ["OMP_NUM_THREADS"] = "1"
    Path("main.json").write_text(json.dumps(seen()))
    mp.spawn(work, args=(str(Path.cwd()), os.getpid()), nprocs=2)
    print("main speaks")
