"""SLURM as an engine."""

from __future__ import annotations

import getpass
import json
import os
import platform
import re
import time
from collections.abc import Callable, Sequence

from nbddp.run.engines.protocol import Standing
from nbddp.run.engines.slurm.answers import why_it_ended
from nbddp.run.engines.slurm.asking import Known, about, called
from nbddp.run.engines.slurm.batch import for_run
from nbddp.run.folder.errors import LaunchFailed
from nbddp.run.folder.files import opened, write_whole
from nbddp.run.folder.folder import RunFolder
from nbddp.run.folder.folders import tame
from nbddp.run.start.command import Command, RunOptions
from nbddp.run.start.launch import Helper, how
from nbddp.run.state.events import append, has_event
from nbddp.run.state.state import Event

NAME = "slurm"
NUMBER = re.compile(r"[0-9]{1,12}")
FORGOTTEN = "SLURM no longer knows job {number}, and the run has not said how it ended."
UNSEEN = (
    "Its job {number} ended on {nodes} without having written into the run's folder: most likely not all of them "
    "see {folder}, or the Python of the run."
)
WHILE_QUEUED = "It was cancelled while it waited in the queue."
NOT_SENT_FOR = 120.0  # seconds after which a run whose job has no number will get none
BY_ITSELF = 15.0  # seconds that the job's own supervisor gets to end it and to say how
TO_GO = 45.0  # seconds in which SLURM ends a job that was cancelled: it asks, and kills half a minute later


class Slurm:
    """Its folder is on a file system that all nodes see: through it the job is watched, and stopped where it can be."""

    def submit(self, folder: RunFolder, name: str, options: RunOptions, command: Command, helper: Helper) -> None:  # noqa: ARG002
        assert options.job is not None, "it was chosen by that"
        nproc = options.nproc or 1
        told = {"start": "", "why_cold": "", "time": options.job.time, "script": folder.script_digest()}
        folder.write_command({**how(name, options, command), **told})
        _keep(folder, "")
        folder.batch.write_text(for_run(folder, tame(name), nproc, options.job, command), encoding="utf-8")
        number = _submitted(folder, command)
        _keep(folder, number)
        total = nproc * options.job.nodes
        append(folder, "queued", engine=NAME, job=number, partition=options.job.partition, name=name, nproc=total)

    def state(self, folder: RunFolder, wait: float = 0.0) -> Standing:
        number = _number(folder)
        known = about(number, wait) if number else Known(silent=True)
        facts = known.facts
        told: dict[str, object] = {"event": "job", "time": None, "silent": known.silent and known.asked > 0}
        if facts is not None:
            told |= {"partition": facts.partition, "nodes": facts.nodes, "waits": facts.waits}
            told |= {"reason": facts.why_it_waits if facts.waits else ""}
        lives = None if facts is None and not known.forgotten else facts is not None and facts.goes_on
        return Standing(lives, (told,) if facts or known.silent else ())

    def why(self, folder: RunFolder, wait: float = 0.0) -> Event | None:
        if not folder.path.exists():
            return _lost("Its folder was deleted.")
        number = _number(folder)
        known = about(number, wait) if number else Known()
        if not number and time.time() - folder.path.stat().st_mtime > NOT_SENT_FOR:
            return _lost("It never started: SLURM was not given the job.")
        if known.facts is not None and not known.facts.goes_on:
            return _ended(folder, number, known)
        if known.forgotten:
            return _lost(FORGOTTEN.format(number=number))
        return None

    def stop(self, folder: RunFolder, grade: str) -> Sequence[int]:
        number = _number(folder)
        if not number:
            return []
        known = about(number, wait=10.0, fresh=0.0)
        if _over(folder, known):
            return []
        append(folder, "stopping", grade=grade, by=_me())
        if known.facts is not None and known.facts.waits:
            return _cancel(folder, number, WHILE_QUEUED)
        if grade == "epoch":
            os.close(opened(folder.stop, os.O_WRONLY | os.O_CREAT))
            return []
        _until(lambda: _over(folder, about(number)), BY_ITSELF)  # its supervisor reads that it is to end
        return [] if has_event(folder, "exit") else _cancel(folder, number, "It was cancelled.")


def _submitted(folder: RunFolder, command: Command) -> str:
    said = called(["sbatch", "--parsable", str(folder.batch)], command.environment)
    number = said.text.strip().partition(";")[0]
    if said.status == 0 and NUMBER.fullmatch(number):
        return number
    why = said.error.replace("sbatch: error: ", "").replace("Batch job submission failed: ", "").strip()
    raise LaunchFailed(f"SLURM did not take the job: {' '.join(why.split()) or f'status {said.status}'}.")


def _keep(folder: RunFolder, number: str) -> None:
    write_whole(folder.job, json.dumps({"engine": NAME, "number": number}) + "\n")


def _number(folder: RunFolder) -> str:
    """Anybody may have written what stands there."""
    number = str(folder.read_job().get("number", ""))
    return number if NUMBER.fullmatch(number) else ""


def _me() -> str:
    return f"{getpass.getuser()} on {platform.node()}"


def _over(folder: RunFolder, known: Known) -> bool:
    return has_event(folder, "exit") or known.forgotten or (known.facts is not None and not known.facts.goes_on)


def _cancel(folder: RunFolder, number: str, why: str) -> list[int]:
    """Have SLURM end it, and wait until it has; the run's own end is written here, for its processes may not get to."""
    called(["scancel", number])
    if not _until(lambda: _over(folder, about(number, wait=2.0, fresh=1.0)), TO_GO):
        return [int(number)]
    append(folder, "exit", status=None, signal=None, phase="stopped", cause=why, forced=True)
    return []


def _ended(folder: RunFolder, number: str, known: Known) -> Event:
    """In place of the event that the run has not written. What it was asked for decides how it is called."""
    facts = known.facts
    assert facts is not None, "it has been asked"
    cause = why_it_ended(facts, known.by)
    if facts.state == "FAILED" and not has_event(folder, "launch"):
        cause = UNSEEN.format(number=number, nodes=facts.nodes or "its node", folder=folder.path)
    phase = "killed" if facts.state == "CANCELLED" else "failed"
    return {"event": "exit", "time": time.time(), "rank": None, "status": None, "signal": None, "phase": phase,
            "cause": cause, "forced": True}  # fmt: skip


def _lost(message: str) -> Event:
    return {"event": "lost", "time": None, "rank": None, "message": message}


def _until(done: Callable[[], bool], seconds: float) -> bool:
    until = time.monotonic() + seconds
    while not done():
        if time.monotonic() > until:
            return False
        time.sleep(0.1)
    return True
