"""Engines that take a run as a job: the four verbs, once for all of them. What differs between them is a `Queue`."""

from __future__ import annotations

import getpass
import json
import os
import platform
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nbddp.run.engines.known import AGAIN, JobFacts, Known, known_of
from nbddp.run.engines.protocol import Standing
from nbddp.run.folder.files import opened, write_whole
from nbddp.run.folder.folder import RunFolder
from nbddp.run.start.command import Command, RunOptions
from nbddp.run.start.launch import Helper, how
from nbddp.run.state.events import append, has_event
from nbddp.run.state.state import Event

UNSEEN = (
    "Its job {number} ended on {nodes} without having written into the run's folder: most likely not all of them "
    "see {folder}, or the Python of the run."
)
WHILE_QUEUED = "It was cancelled while it waited in the queue."
NOT_SENT_FOR = 120.0  # seconds after which a run whose job has no number will get none
BY_ITSELF = 15.0  # seconds that the job's own supervisor gets to end it and to say how
TO_GO = 45.0  # seconds in which an engine ends a job that was cancelled: it asks, and kills half a minute later

Job = Mapping[str, Any]  # what is kept of it: its engine, its number there, where the engine is


@dataclass(frozen=True)
class Queue:
    """How one of them is spoken to."""

    name: str  # slurm
    title: str  # SLURM
    number: re.Pattern[str]  # of a job
    send: Callable[[RunFolder, str, RunOptions, Command], str]  # gives its number; LaunchFailed
    ask: Callable[[Job], Known]  # however long it takes
    cancel: Callable[[Job], object]
    why_it_waits: Callable[[JobFacts], str]
    why_it_ended: Callable[[JobFacts, str], str]  # `by` whom


@dataclass(frozen=True)
class Queued:
    """Its folder is on a file system that all nodes see: through it the job is watched, and stopped where it can be."""

    queue: Queue

    def submit(self, folder: RunFolder, name: str, options: RunOptions, command: Command, helper: Helper) -> None:  # noqa: ARG002
        assert options.job is not None, "it was chosen by that"
        told = {"start": "", "why_cold": "", "time": options.job.time, "script": folder.script_digest()}
        folder.write_command({**how(name, options, command), **told})
        job = {"engine": self.queue.name, "number": "", "address": options.job.address}
        _keep(folder, job)
        number = self.queue.send(folder, name, options, command)
        _keep(folder, {**job, "number": number})
        total = (options.nproc or 1) * options.job.nodes
        append(folder, "queued", engine=self.queue.name, job=number, partition=options.job.partition, name=name,
               nproc=total)  # fmt: skip

    def state(self, folder: RunFolder, wait: float = 0.0) -> Standing:
        known = self._about(folder, wait) or Known(silent=True)
        facts = known.facts
        told: dict[str, object] = {"event": "job", "time": None, "silent": known.silent and known.asked > 0}
        if facts is not None:
            told |= {"partition": facts.partition, "nodes": facts.nodes, "waits": facts.waits}
            told |= {"reason": self.queue.why_it_waits(facts) if facts.waits else ""}
        lives = None if facts is None and not known.forgotten else facts is not None and facts.goes_on
        return Standing(lives, (told,) if facts or known.silent else ())

    def why(self, folder: RunFolder, wait: float = 0.0) -> Event | None:
        if not folder.path.exists():
            return _lost("Its folder was deleted.")
        number, title = self._number(folder), self.queue.title
        known = self._about(folder, wait) or Known()
        if not number and time.time() - folder.path.stat().st_mtime > NOT_SENT_FOR:
            return _lost(f"It never started: {title} was not given the job.")
        if known.facts is not None and not known.facts.goes_on:
            return self._ended(folder, known.facts, known.by)
        if known.forgotten:
            return _lost(f"{title} no longer knows job {number}, and the run has not said how it ended.")
        return None

    def stop(self, folder: RunFolder, grade: str) -> Sequence[int]:
        known = self._about(folder, wait=10.0, fresh=0.0)
        if known is None or _over(folder, known):
            return []
        append(folder, "stopping", grade=grade, by=f"{getpass.getuser()} on {platform.node()}")
        if known.facts is not None and known.facts.waits:
            return self._cancel(folder, WHILE_QUEUED)
        if grade == "epoch":
            os.close(opened(folder.stop, os.O_WRONLY | os.O_CREAT))
            return []
        _until(lambda: _over(folder, self._about(folder) or Known()), BY_ITSELF)
        return [] if has_event(folder, "exit") else self._cancel(folder, "It was cancelled.")

    def _cancel(self, folder: RunFolder, why: str) -> list[int]:
        """Have it ended, and wait until it has; the run's own end is written here: its processes may not get to."""
        self.queue.cancel(folder.read_job())
        if not _until(lambda: _over(folder, self._about(folder, wait=2.0, fresh=1.0) or Known()), TO_GO):
            return [0]
        append(folder, "exit", status=None, signal=None, phase="stopped", cause=why, forced=True)
        return []

    def _number(self, folder: RunFolder) -> str:
        """Anybody may have written what stands there."""
        job = folder.read_job()
        number = str(job.get("number", "")) if job.get("engine") == self.queue.name else ""
        return number if self.queue.number.fullmatch(number) else ""

    def _about(self, folder: RunFolder, wait: float = 0.0, fresh: float = AGAIN) -> Known | None:
        """Nothing where it has no number."""
        number, job = self._number(folder), folder.read_job()
        key = f"{self.queue.name} {job.get('address', '')} {number}"
        return known_of(key, lambda _: self.queue.ask(job), wait, fresh) if number else None

    def _ended(self, folder: RunFolder, facts: JobFacts, by: str) -> Event:
        """In place of the event that the run has not written. What it was asked for decides how it is called."""
        cause = self.queue.why_it_ended(facts, by)
        if facts.state == "FAILED" and not has_event(folder, "launch"):
            where = {"number": self._number(folder), "nodes": facts.nodes or "its node", "folder": folder.path}
            cause = f"{UNSEEN.format(**where)} {facts.reason}".rstrip()
        if facts.state == "CANCELLED" and not has_event(folder, "launch"):
            cause = f"{cause.removesuffix('.')}, before it had started."
        phase = "killed" if facts.state == "CANCELLED" else "failed"
        return {"event": "exit", "time": time.time(), "rank": None, "status": None, "signal": None, "phase": phase,
                "cause": cause, "forced": True}  # fmt: skip


def _keep(folder: RunFolder, job: Job) -> None:
    write_whole(folder.job, json.dumps(job) + "\n")


def _over(folder: RunFolder, known: Known) -> bool:
    return has_event(folder, "exit") or known.forgotten or (known.facts is not None and not known.facts.goes_on)


def _lost(message: str) -> Event:
    return {"event": "lost", "time": None, "rank": None, "message": message}


def _until(done: Callable[[], bool], seconds: float) -> bool:
    until = time.monotonic() + seconds
    while not done():
        if time.monotonic() > until:
            return False
        time.sleep(0.1)
    return True
