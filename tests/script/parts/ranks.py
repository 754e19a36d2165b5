"""Run a function in several real processes with a gloo group around them, and get back what each of them returns.

The ranks are forked from a server that has imported torch once, so that a group costs a fraction of a second.
"""

from __future__ import annotations

import importlib
import multiprocessing
import os
import pickle
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from tests.e2e.forked import FORKS

LIMIT = 60.0  # seconds after which a group is ended: a hang is a failure, not a wait
Environment = dict[str, str]


def run_ranks(world_size: int, function: Callable[..., Any], *args: Any, **environment: str) -> list[Any]:
    """What `function(rank, *args)` returns on each rank; an exception where it returns none but raises."""
    with tempfile.TemporaryDirectory() as folder:
        processes, ends = [], []
        for rank in range(world_size):
            here, there = FORKS.Pipe(duplex=False)
            names = {
                "RANK": str(rank),
                "LOCAL_RANK": str(rank),
                "WORLD_SIZE": str(world_size),
                "LOCAL_WORLD_SIZE": str(world_size),
                **environment,
            }
            place = f"{function.__module__}:{function.__qualname__}"
            process = FORKS.Process(target=_rank, args=(there, f"{folder}/store", place, args, names))
            process.start()
            there.close()
            processes.append(process)
            ends.append(here)
        try:
            return _results(ends)
        finally:
            for process in processes:
                process.kill()
                process.join()


def _results(ends: list[Connection]) -> list[Any]:
    results: dict[Any, Any] = {}
    deadline = time.monotonic() + LIMIT
    while len(results) < len(ends):
        ready = wait([end for end in ends if end not in results], max(0.0, deadline - time.monotonic()))
        if not ready:
            raise TimeoutError(f"{len(ends) - len(results)} ranks have not come to an end in {LIMIT:g} s")
        for end in ready:
            assert isinstance(end, Connection)
            try:
                results[end], text = pickle.loads(end.recv_bytes())
                if text:
                    results[end].__cause__ = RuntimeError(text)
            except EOFError:
                results[end] = RuntimeError("the process died")
    return [results[end] for end in ends]


def returned(results: list[Any]) -> list[Any]:
    """The results of a group in which nothing went wrong."""
    for result in results:
        if isinstance(result, BaseException):
            raise AssertionError("a rank failed") from result
    return results


def on_ranks(world_size: int, function: Callable[..., Any], *args: Any, **environment: str) -> list[Any]:
    """`run_ranks` where no rank may fail."""
    return returned(run_ranks(world_size, function, *args, **environment))


def _rank(end: Connection, store: str, place: str, args: tuple[Any, ...], environment: Environment) -> None:
    import torch
    import torch.distributed as dist

    sys.stderr = sys.stdout = Path(os.devnull).open("w")  # noqa: SIM115 -- for as long as the process lives
    os.environ.update(environment)
    torch.set_num_threads(1)
    multiprocessing.set_start_method("fork", force=True)
    warnings.simplefilter("error")
    warnings.filterwarnings("ignore", message=".*multi-threaded, use of fork.*")  # workers of a DataLoader
    rank, world_size = int(environment["RANK"]), int(environment["WORLD_SIZE"])
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=world_size)
    dist.barrier()  # none may leave while another is still connecting
    module, _, name = place.partition(":")
    try:
        result = getattr(importlib.import_module(module), name)(rank, *args)
    except BaseException as error:  # noqa: BLE001 -- it is the result of this rank
        text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
        end.send_bytes(pickle.dumps((error, text)))
        os._exit(1)
    end.send_bytes(pickle.dumps((result, None)))  # by value: torch would have tensors sent as shared memory
    dist.destroy_process_group()
