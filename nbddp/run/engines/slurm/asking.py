"""SLURM's commands, called."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nbddp.run.engines.known import AGAIN, Known, known_of
from nbddp.run.engines.slurm.answers import cancelled_by, read_job
from nbddp.run.processes.interrupts import breakable
from nbddp.run.start.command import outside_of_jobs

WITHIN = 60.0  # seconds; SLURM's commands themselves try for some time
GONE = ("Invalid job id", "No such job")  # it has ended long enough ago to be forgotten


@dataclass(frozen=True)
class Said:
    """How a command ended."""

    status: int
    text: str
    error: str


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


def about(number: str, wait: float = 0.0, fresh: float = AGAIN) -> Known:
    """What is known of this job; waits at most so long for an answer where the last is older than `fresh`."""
    return known_of(number, ask, wait, fresh)


def ask(number: str) -> Known:
    """Now, and as long as it takes."""
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
