"""A process that trains: its log, its place, why it fails, and that it does not outlive the one that started it."""

from __future__ import annotations

import multiprocessing
import os
import platform
import socket
import struct
import sys
import threading
import time
import traceback
from pathlib import Path
from typing import NoReturn

from nbddp.run.watching.errors import described, places, words_of
from nbddp.run.watching.reports import Reports

SIGNS = ("closed by peer", "reset by peer", "Broken pipe", "remote process exited", "communicator was aborted")
SOCK_DIAG, BY_FAMILY, ALL_OF_THEM = 4, 20, 0x301  # Linux's way to ask for sockets: protocol, question, flags
HEADER, LISTENING = 16, 1 << 10  # bytes of a message's header; the state's bit
WAIT = 5.0  # seconds that one which is not to blame leaves to the one that is, so that that one is shown


def begin(reports: Reports, rank: int, logs: str | None) -> None:
    """From here on this is a rank: it writes into its own log."""
    reports.rank = rank
    if logs is not None:
        file = os.open(Path(logs, f"rank{rank}.log"), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        for number in (1, 2):
            os.dup2(file, number)
        os.close(file)
        sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    elif rank > 0:
        sys.stdout = Path(os.devnull).open("w")  # noqa: SIM115 -- as the script would have it
    _tell_of_exits(reports)
    if multiprocessing.parent_process() is not None:
        threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """Wait until the process that started this one is gone, however it went."""
    parent = multiprocessing.parent_process()
    assert parent is not None, "it was there when this began"
    parent.join()
    os._exit(1)


def _tell_of_exits(reports: Reports) -> None:
    """`os._exit` ends a process without a word: say from which line. Processes forked off this one are none of it."""
    leave, rank = os._exit, os.getpid()

    def told(status: int) -> NoReturn:
        frames = traceback.extract_stack()[:-1]
        script = getattr(sys.modules["__main__"], "__file__", None)
        if os.getpid() == rank and any(f.filename == script for f in frames):
            text = "".join(traceback.format_list(frames))
            reports.report("error", type=f"os._exit({status})", message="", text=text, traceback=places(frames))
        leave(status)

    os._exit = told


def meet(rank: int, within: float = 0.5) -> None:
    """Wait until the first process listens: torch's others try at once, and again only after half a second."""
    until = time.monotonic() + within
    port = int(os.environ.get("MASTER_PORT") or 0)
    if rank > 0 and port and multiprocessing.parent_process() is not None:
        while not listened_to(port) and time.monotonic() < until:
            time.sleep(0.001)


def listened_to(port: int) -> bool:
    """As the system says (Linux): to connect would disturb who listens. True too where it cannot be asked."""
    try:
        return any(_answers(family, port) for family in (socket.AF_INET6, socket.AF_INET))
    except (AttributeError, OSError):
        return True


def _answers(family: int, port: int) -> bool:
    """Whether a socket of this family listens: its tables in /proc are read as a whole, in 10 ms, this in 0.02."""
    wanted = struct.pack("=BBBxIH46x", family, socket.IPPROTO_TCP, 0, LISTENING, socket.htons(port))
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, SOCK_DIAG) as system:
        system.send(struct.pack("=IHHII", HEADER + len(wanted), BY_FAMILY, ALL_OF_THEM, 0, 0) + wanted)
        kind: int = struct.unpack_from("=IH", system.recv(8192))[1]
    return kind == BY_FAMILY


def up(reports: Reports) -> None:
    """Tell that this process has met the others, and where it trains."""
    import torch
    import torch.distributed as dist

    reports.world_size = dist.get_world_size()
    used = torch.cuda.is_initialized()  # type: ignore[no-untyped-call]
    device = torch.device("cuda", torch.cuda.current_device()) if used else torch.device("cpu")
    gpu = torch.cuda.get_device_properties(device) if used else None
    reports.report(
        "rank",
        world_size=reports.world_size,
        pid=os.getpid(),
        host=platform.node(),
        device=str(device),
        device_name=gpu.name if gpu else "CPU",
        uuid=str(getattr(gpu, "uuid", "")),
    )


def failed(reports: Reports, error: BaseException) -> None:
    """Tell why this process ends; wait where another is to blame or says the same, so that this one is not shown."""
    victim = isinstance(error, RuntimeError) and any(sign in words_of(error) for sign in SIGNS)
    reports.report("error", **described(error), victim=victim)
    if victim or (isinstance(error, SystemExit) and reports.rank > 0):
        time.sleep(WAIT)
