"""Follows a run in a thread of its own and shows it, at a pace that leaves the kernel free to answer."""

from __future__ import annotations

import atexit
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

from nbddp.run.state.state import RunState
from nbddp.sentence import sentence
from nbddp.widget.subject import Subject
from nbddp.widget.surface import Surface, kernel_shell, open_surface
from nbddp.widget.terminal import last_lines

PERIOD = 0.1  # seconds: at most ten updates a second, however fast the loop
LOGS_PERIOD = 0.25
HEARTBEAT = 2.0  # seconds after which a page hears that nothing has changed
SHARE = 0.2  # of one core's time, at most


class Watched(Protocol):
    """What a feed needs of a run. The end of a log is raw text, or its lines."""

    @property
    def state(self) -> RunState: ...

    def log_tail(self, rank: int) -> str | Sequence[str]: ...

    def printed(self, *, last: bool) -> Iterable[str]:
        """The lines that rank 0 has printed since this was asked before."""


def follow(
    run: Watched, subject: Subject, on_stop: Callable[[str], object], *, plain: bool = False, share: float = SHARE
) -> Feed:
    """Show this run from here on, in the output of the cell that calls, with this share of a core's time."""
    feed = Feed(run, open_surface(run, subject, on_stop, plain=plain), share)
    feed.start()
    return feed


class Feed:
    """Ends by itself with the run, or when it is closed; what is shown last is the last state."""

    def __init__(self, run: Watched, surface: Surface, share: float = SHARE) -> None:
        self.surface = surface
        self.problem: Exception | None = None
        self._run = run
        self._share = share
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._follow, name="nbddp-feed", daemon=True)
        self._parent = _parent()
        self._shown: RunState | None = None
        self._raw: dict[int, str | Sequence[str]] = {}
        self._logs: dict[int, list[str]] = {}
        self._beat = self._logs_due = 0.0

    def start(self) -> None:
        """From the cell whose output it is."""
        atexit.register(self._closing.set)
        self._thread.start()

    def join(self, timeout: float | None = None) -> bool:
        """Wait for the last state to be shown."""
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def close(self, timeout: float = 5.0) -> bool:
        """Show what is known now, and no more."""
        self._closing.set()
        return self.join(timeout)

    def _follow(self) -> None:
        _adopt(self._parent)
        pause = 0.0
        try:
            while not self._closing.wait(pause):
                began = time.monotonic()
                if self._update():
                    return
                pause = max(PERIOD, (time.monotonic() - began) / self._share)
            self._update(last=True)
        except Exception as problem:  # noqa: BLE001  whatever it is, a view must not end without a word
            self.problem = problem
            self.surface.trouble(sentence("This view of the run has ended (%1); the run itself continues.", problem))
        finally:
            atexit.unregister(self._closing.set)

    def _update(self, *, last: bool = False) -> bool:
        """Show what is new; whether that was the last."""
        now = time.monotonic()
        state = self._run.state
        last = last or state.over
        changed = last or now >= self._logs_due
        if changed:
            changed = self._read_logs(state)
            self._logs_due = now + LOGS_PERIOD
        if not (last or changed or state is not self._shown or now >= self._beat):
            return False
        self._beat = now + HEARTBEAT
        self._shown = state
        self.surface.show(state, self._logs, last=last)
        return last

    def _read_logs(self, state: RunState) -> bool:
        """Whether any has grown."""
        changed = False
        for rank in sorted({0, *state.ranks}):
            raw = self._run.log_tail(rank)
            if raw != self._raw.get(rank, ""):
                self._raw[rank] = raw
                self._logs = {**self._logs, rank: last_lines(raw if isinstance(raw, str) else "\n".join(raw))}
                changed = True
        return changed


def _parent() -> Any:
    shell = kernel_shell()
    return None if shell is None else shell.get_parent()


def _adopt(parent: Any) -> None:
    """What this thread puts out belongs to the cell that started it, not to the one that runs by then.

    Before ipykernel 7 the parent is one for all threads, and is the running cell's: there it is left alone.
    """
    shell = kernel_shell()
    if shell is None or parent is None:
        return
    from ipykernel._version import version_info

    if hasattr(shell, "set_thread_parent"):
        shell.set_thread_parent(parent)
    elif version_info >= (7,):
        shell.set_parent(parent)
