"""No test leaves a process behind, however it ends: those of its runs are ended with it, all others with the last test.

A run outlives whoever has started it, which is its purpose, so a test that fails half way would leave one behind, to
train on the cores that the next tests need.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

PROC = Path("/proc")
MARK = "STARTED_BY_TESTS_OF"  # a variable that all processes of a test process inherit
SHORT = 0.1  # seconds in which no run is started and comes to train; most tests take less
PATIENCE = float(os.environ.get("LEFTOVERS_PATIENCE", "10"))  # seconds in which an ended run's processes are gone
BEGAN, PASSED = pytest.StashKey[float](), pytest.StashKey[bool]()
TICKS = os.sysconf("SC_CLK_TCK")


def pytest_configure(config: pytest.Config) -> None:
    """A background job of a shell ignores interrupts, and so would every process that a test starts and interrupts."""
    os.environ[MARK] = str(os.getpid())
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Servers of multiprocessing end by themselves, with this process; the processes of xdist have their own mark."""
    if os.environ.pop(MARK, None) == str(os.getpid()):
        marked = f"{MARK}={os.getpid()}".encode()
        end(lambda: [pid for pid in living() if marked in environment(pid) and b"multiprocessing" not in command(pid)])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    item.stash[BEGAN] = now()
    item.stash[PASSED] = False
    yield
    item.stash[PASSED] = True


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Iterator[None]:
    """Behind all fixtures. A test that passes ends its runs itself; for one that does not they are ended here."""
    left: list[int] = []
    try:
        yield
    finally:
        began, passed = item.stash.get(BEGAN, now()), item.stash.get(PASSED, False)
        if not passed or now() - began > SHORT:
            left = leave_none(item, began, PATIENCE if passed else 0.0)
    if passed:
        assert not left, f"the test has passed and left processes of its runs: {left}"


def leave_none(item: pytest.Item, began: float, patience: float) -> list[int]:
    """The processes of runs in the folders of these tests that began in the test's own call and had to be killed."""
    home = os.fsencode(item.config._tmp_path_factory.getbasetemp()) + b"/"  # type: ignore[attr-defined]
    deadline = time.monotonic() + patience

    def left() -> list[int]:
        return [pid for pid in living() if of_a_run(pid, home) and started(pid) >= began]

    while (found := left()) and time.monotonic() < deadline:
        time.sleep(0.05)
    end(left)
    return found


def end(find: Callable[[], list[int]]) -> None:
    """Kill what is found until nothing is: a process may just be starting another."""
    deadline = time.monotonic() + PATIENCE
    while (found := find()) and time.monotonic() < deadline:
        for pid in found:
            kill(pid)
        time.sleep(0.01)


def kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def of_a_run(pid: int, home: bytes) -> bool:
    """By the variable that a run's processes have, or by where they write, since some are forked and renamed."""
    if any(word.startswith(b"NBDDP_EVENTS=" + home) for word in environment(pid).split(b"\0")):
        return True
    try:
        outputs = [os.fsencode((PROC / str(pid) / "fd" / number).readlink()) for number in "12"]
    except OSError:
        return False
    return any(output.startswith(home) and b"/.nbddp/runs/" in output for output in outputs)


def living() -> list[int]:
    """All processes but this one; none where the system does not tell."""
    return [int(place.name) for place in PROC.glob("[0-9]*") if int(place.name) != os.getpid() and not dead(place)]


def dead(place: Path) -> bool:
    return read(place / "stat").rpartition(b")")[2].split()[:1] in ([], [b"Z"], [b"X"])


def environment(pid: int) -> bytes:
    return read(PROC / str(pid) / "environ")


def command(pid: int) -> bytes:
    return read(PROC / str(pid) / "cmdline")


def started(pid: int) -> float:
    """On the clock of `now`."""
    fields = read(PROC / str(pid) / "stat").rpartition(b")")[2].split()
    return int(fields[19]) / TICKS if len(fields) > 19 else 0.0


def now() -> float:
    """Seconds since the system came up, as a process's start is told; a little less, since that is rounded down."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) - 2 / TICKS


def read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""
