"""Scripts run in forks of one process that has imported torch already: the same script, without seconds of imports.

The processes of a script are started as torchrun starts them, each with its place in the environment.
"""

from __future__ import annotations

import multiprocessing
import os
import runpy
import signal
import socket
import sys
import time
import traceback
from dataclasses import dataclass
from pathlib import Path

from nbddp.run.processes import inside

from .outcome import RunFailed
from .process import end_group, environment

# Multiprocessing has one such server in a process: the tests of the parts (tests/script/parts) fork from it too.
FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(
    [
        "torch",
        "torch.distributed",
        "torch.multiprocessing",
        "torch.utils.data",
        "torch._dynamo",
        "numpy",
        "sklearn.datasets",
        "sklearn.metrics",
        "tqdm",
        "pytest",
    ]
)


@dataclass(frozen=True)
class Order:
    """What is to be run: a script with its arguments, alone or as each of several ranks."""

    script: str
    arguments: tuple[str, ...]
    folder: str
    logs: str
    variables: dict[str, str]
    world_size: int | None = None  # None: one process, that knows of no others


def run_forked(order: Order, seconds: float) -> tuple[str, str, float]:
    """Return output, error output and the time it took; leave no process behind."""
    began = time.monotonic()
    process = FORKS.Process(target=_lead, args=(order,))
    process.start()
    assert process.pid is not None
    process.join(seconds)
    status = process.exitcode if process.exitcode is not None else f"still running after {seconds:.0f} s"
    left = end_group(process.pid, ended=process.exitcode is not None)
    process.join()
    process.close()
    printed, said = (Path(order.logs, f"{name}.txt").read_text(errors="replace") for name in ("stdout", "stderr"))
    if status != 0 or left:
        problem = f"status {status}" + (f", left processes {left} behind" if left else "")
        raise RunFailed(f"{order.script} {order.arguments}\n{problem}\n{printed[-3000:]}\n{said[-6000:]}")
    return printed, said, time.monotonic() - began


def _lead(order: Order) -> None:
    """The head of a session of its own; what its ranks come to is what it comes to."""
    os.setsid()
    os.environ.clear()
    os.environ.update(environment(order.variables))
    os.environ.setdefault("PYTHONHASHSEED", "0")  # what is forked hashes alike as it is, and need not start anew
    for number, name in ((1, "stdout"), (2, "stderr")):
        os.dup2(os.open(Path(order.logs, f"{name}.txt"), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), number)
    os.chdir(order.folder)
    if order.world_size is None:
        os._exit(_run(order))
    port = _free_port()
    ranks = [_fork(order, rank, order.world_size, port) for rank in range(order.world_size)]
    failed = 0
    while ranks:
        pid, status = os.wait()
        if pid in ranks:
            ranks.remove(pid)
            failed = failed or os.waitstatus_to_exitcode(status)
    os._exit(abs(failed))


def _fork(order: Order, rank: int, world_size: int, port: int) -> int:
    pid = os.fork()
    if pid:
        return pid
    place = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": world_size, "LOCAL_WORLD_SIZE": world_size}
    os.environ.update(
        {name: str(value) for name, value in place.items()}, MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port)
    )
    os._exit(_run(order))


def _run(order: Order) -> int:
    """The script as `__main__`; its exit status."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # torch was imported before this run's environment was there: without this each rank takes a thread for every core
    sys.modules["torch"].set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    multiprocessing.set_start_method(None, force=True)  # the system's own again, for workers of a DataLoader
    sys.stdout, sys.stderr = (os.fdopen(number, "w", buffering=1) for number in (1, 2))
    sys.__stdout__, sys.__stderr__ = sys.stdout, sys.stderr
    sys.argv, sys.path[0] = [order.script, *order.arguments], str(Path(order.script).parent)
    try:
        if "NBDDP_WATCH" in os.environ:
            inside.run(order.script)
        else:
            runpy.run_path(order.script, run_name="__main__")
        status = 0
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
    except BaseException:  # noqa: BLE001 - whatever it is, the rank has failed
        traceback.print_exc()
        status = 1
    sys.stdout.flush()
    sys.stderr.flush()
    return status


def _free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port: int = s.getsockname()[1]
        return port
