"""What is known of a job of an engine. A view asks aside: an engine that is slow to answer holds up nobody."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

AGAIN = 4.0  # seconds after which an answer is old
WAITING = frozenset({"PENDING", "REQUEUED", "REQUEUE_FED", "REQUEUE_HOLD", "SPECIAL_EXIT", "SUSPENDED", "STOPPED"})
GOING = WAITING | {"RUNNING", "CONFIGURING", "COMPLETING", "RESIZING", "SIGNALING", "STAGE_OUT"}


@dataclass(frozen=True)
class JobFacts:
    """A job, as `scontrol show job` has it; other engines say it in these words, too."""

    state: str
    reason: str = ""
    partition: str = ""
    nodes: str = ""
    exit_code: str = "0:0"
    restarts: int = 0
    preempted: bool = False
    limit: str = ""
    ends: float | None = None  # seconds since the epoch: its time limit, or when it is to make room for another

    @property
    def waits(self) -> bool:
        return self.state in WAITING

    @property
    def goes_on(self) -> bool:
        return self.state in GOING

    @property
    def is_ending(self) -> bool:
        """For good, unless it is being put back into the queue: then it has one restart more."""
        return not self.goes_on or self.state == "COMPLETING"


@dataclass(frozen=True)
class Known:
    """The latest that is known of a job."""

    facts: JobFacts | None = None
    forgotten: bool = False  # SLURM knows nothing of it any more
    silent: bool = False  # it has not answered last time
    by: str = ""  # who has cancelled it
    asked: float = 0.0


_KNOWN: dict[str, Known] = {}
_ASKING: dict[str, threading.Thread] = {}
_LOCK = threading.Lock()


def known_of(number: str, ask: Callable[[str], Known], wait: float = 0.0, fresh: float = AGAIN) -> Known:
    """What is known of this job; waits at most so long for an answer where the last is older than `fresh`."""
    with _LOCK:
        known = _KNOWN.get(number)
        if known is not None and time.monotonic() - known.asked < fresh:
            return known
        thread = _ASKING.get(number)
        if thread is None or not thread.is_alive():
            thread = threading.Thread(target=_learn, args=(number, ask), name="nbddp-asking", daemon=True)
            _ASKING[number] = thread
            thread.start()
    thread.join(0.0 if known is not None and known.silent else wait)  # nobody waits for it twice
    return _KNOWN.get(number, Known())


def _learn(number: str, ask: Callable[[str], Known]) -> None:
    known = ask(number)
    before = _KNOWN.get(number, Known())
    if known.silent or (known.forgotten and before.facts is not None and not before.facts.goes_on):
        known = replace(before, silent=known.silent)
    _KNOWN[number] = replace(known, asked=time.monotonic())
