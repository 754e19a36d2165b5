"""SLURM's commands, called. What a view asks is asked aside: a controller that is slow to answer holds up nobody."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from nbddp.run.engines.slurm.answers import JobFacts, cancelled_by, read_job
from nbddp.run.processes.interrupts import breakable
from nbddp.run.start.command import outside_of_jobs

WITHIN = 60.0  # seconds; SLURM's commands themselves try for some time
AGAIN = 4.0  # seconds after which an answer is old
GONE = ("Invalid job id", "No such job")  # it has ended long enough ago to be forgotten


@dataclass(frozen=True)
class Said:
    """How a command ended."""

    status: int
    text: str
    error: str


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


def called(words: Sequence[str], environ: Mapping[str, str] | None = None, within: float = WITHIN) -> Said:
    """Back when it has ended, which an interrupt also does. Status 127 where there is no such command."""
    environment = outside_of_jobs(os.environ if environ is None else environ)
    try:
        with subprocess.Popen(
            words, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            errors="replace",
        ) as process:  # fmt: skip
            try:
                text, error = breakable(lambda: process.communicate(timeout=within))
            except BaseException:
                process.kill()
                raise
    except FileNotFoundError:
        return Said(127, "", f"there is no {words[0]} here")
    except subprocess.TimeoutExpired:
        return Said(124, "", f"{words[0]} has not answered for {within:.0f} seconds")
    return Said(process.returncode, text, error.strip())


def about(number: str, wait: float = 0.0, fresh: float = AGAIN, ask: Callable[[str], Known] | None = None) -> Known:
    """What is known of this job; waits at most so long for an answer where the last is older than `fresh`."""
    with _LOCK:
        known = _KNOWN.get(number)
        if known is not None and time.monotonic() - known.asked < fresh:
            return known
        thread = _ASKING.get(number)
        if thread is None or not thread.is_alive():
            thread = threading.Thread(target=_learn, args=(number, ask or _ask), name="nbddp-slurm", daemon=True)
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


def _ask(number: str) -> Known:
    said = called(["scontrol", "--oneliner", "show", "job", number])
    if said.status == 0 and (facts := read_job(said.text)):
        by = _who_cancelled(number) if facts.state == "CANCELLED" else ""
        return Known(facts, by=by)
    return Known(forgotten=True) if any(words in said.error for words in GONE) else Known(silent=True)


def _who_cancelled(number: str) -> str:
    """Only where there is accounting."""
    said = called(["sacct", "-j", number, "-X", "-n", "-P", "-o", "State"], within=10.0)
    who = cancelled_by(said.text)
    if not who.isdecimal():
        return who
    import pwd

    try:
        return pwd.getpwuid(int(who)).pw_name
    except KeyError:
        return f"user {who}"
