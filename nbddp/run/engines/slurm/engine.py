"""SLURM as an engine: how it is given a job, asked, and told to end one."""

from __future__ import annotations

import re

from nbddp.run.engines.queue import Job, Queue
from nbddp.run.engines.slurm.answers import why_it_ended, why_it_waits
from nbddp.run.engines.slurm.asking import ask, called
from nbddp.run.engines.slurm.batch import for_run
from nbddp.run.folder.errors import LaunchFailed
from nbddp.run.folder.folder import RunFolder
from nbddp.run.folder.folders import tame
from nbddp.run.start.command import Command, RunOptions

NUMBER = re.compile(r"[0-9]{1,12}")


def send(folder: RunFolder, name: str, options: RunOptions, command: Command) -> str:
    assert options.job is not None, "it was chosen by that"
    folder.batch.write_text(for_run(folder, tame(name), options.nproc or 1, options.job, command), encoding="utf-8")
    said = called(["sbatch", "--parsable", str(folder.batch)], command.environment)
    number = said.text.strip().partition(";")[0]
    if said.status == 0 and NUMBER.fullmatch(number):
        return number
    why = said.error.replace("sbatch: error: ", "").replace("Batch job submission failed: ", "").strip()
    raise LaunchFailed(f"SLURM did not take the job: {' '.join(why.split()) or f'status {said.status}'}.")


def cancel(job: Job) -> None:
    called(["scancel", str(job["number"])])


SLURM = Queue("slurm", "SLURM", NUMBER, send, lambda job: ask(str(job["number"])), cancel, why_it_waits, why_it_ended)
