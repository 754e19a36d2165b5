"""The file that sbatch is given: for a run of nbddp, and for a script that is started by hand and needs torch alone."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from nbddp.run.folder.folder import RunFolder
from nbddp.run.start.command import Command, JobOptions

NOTICE = 120  # seconds before the time limit at which the job is told, if the limit is so far away
ENVIRONMENT = """\
export OMP_NUM_THREADS=${SLURM_CPUS_PER_TASK:-1}        # srun sets none, and each rank would take all cores
export SRUN_CPUS_PER_TASK=${SLURM_CPUS_PER_TASK:-1}     # srun has not taken it from sbatch since 22.05
export TORCH_DISABLE_SHARE_RDZV_TCP_STORE=1             # else torchrun never comes back after a fault on two nodes"""
SUPERVISED = (
    "import sys; sys.path.append(sys.argv[1]); from nbddp.run.engines.slurm.in_job import main; main(sys.argv[2])"
)
ROOT = Path(__file__).resolve().parents[4]
BY_HAND = """\
# Near the time limit, and after preemption, the job goes back into the queue; it continues from the checkpoint.
trap 'scontrol requeue $SLURM_JOB_ID' USR1
{srun} &
step=$!
until wait $step; status=$?; ! kill -0 $step 2>/dev/null; do :; done
if scontrol --oneliner show job $SLURM_JOB_ID | grep -q ' PreemptTime=[0-9]'; then
    scontrol requeue $SLURM_JOB_ID
    sleep 60  # until SLURM ends this attempt
fi
exit $status
"""


@dataclass(frozen=True)
class Batch:
    """What stands in its head."""

    name: str
    nproc: int  # on each node
    job: JobOptions
    output: str
    folder: str = ""  # to work in; where sbatch is called, if none


def head(batch: Batch) -> Iterator[str]:
    """The lines that sbatch reads, what was asked for by its own words last: of two the later counts."""
    job = batch.job
    lines = [
        [f"--job-name={batch.name}"],
        [f"--nodes={job.nodes}", f"--ntasks-per-node={batch.nproc}"],
        [f"--gpus-per-node={job.gpus}"] if job.gpus else [],
        [f"--{name}={value}" for name in ("partition", "account", "time") if (value := getattr(job, name))],
        [f"--chdir={batch.folder}"] if batch.folder else [],
        [f"--output={batch.output}", "--open-mode=append"],
        ["--requeue", f"--signal=B:USR1@{notice(job.time)}"],
        list(job.words),
    ]
    return (f"#SBATCH {shlex.join(words)}" for words in lines if words)


def notice(time: str) -> int:
    """Of a short limit a quarter at most: there would be no time left to train."""
    limit = seconds_of(time)
    return NOTICE if limit is None else max(1, min(NOTICE, limit // 4))


def seconds_of(time: str) -> int | None:
    """`minutes`, `minutes:seconds`, `hours:minutes:seconds`, `days-hours[:minutes[:seconds]]`, as sbatch reads them."""
    days, dash, rest = time.rpartition("-")
    parts = rest.split(":")
    if not all(part.isdecimal() for part in [*parts, *([days] if dash else [])]) or len(parts) > 3:
        return None
    numbers = [int(part) for part in parts]
    numbers = numbers if dash or len(numbers) == 3 else [0, *numbers]
    hours, minutes, seconds = [*numbers, 0, 0][:3]
    return ((int(days or 0) * 24 + hours) * 60 + minutes) * 60 + seconds


def for_run(folder: RunFolder, name: str, nproc: int, job: JobOptions, command: Command) -> str:
    """The job of a run: its ranks write into the folder, and so does what supervises them."""
    output = str(folder.job_output).replace("%", "%%")
    words = [command.python, "-I", "-S", "-c", SUPERVISED, str(ROOT), str(folder.path)]
    unseen = f"does not see the run's folder {folder.path}: it must be on a file system of all nodes."
    return "\n".join(
        [
            "#!/bin/bash",
            f"# The run {folder.name}: nbddp attach {folder.name}",
            *head(Batch(name, nproc, job, output, command.cwd)),
            "",
            f'[ -d {shlex.quote(str(folder.path))} ] || {{ echo "$(hostname)" {shlex.quote(unseen)}; exit 1; }}',
            *job.prologue,
            ENVIRONMENT,
            f"exec {shlex.join(words)}",
            "",
        ]
    )


def srun_words(argv: Sequence[str], *, tasks: int) -> tuple[str, ...]:
    """What starts the ranks. One that fails ends the others; a single task would take its number from --nproc."""
    alone = ("--nproc", "1") if tasks == 1 else ()
    return ("srun", "--kill-on-bad-exit=1", *argv, *alone)


def for_script(script: Path, nproc: int, job: JobOptions, *, checkpoints: bool) -> str:
    """Beside the script, to be read, changed, and given to sbatch; it needs no nbddp."""
    stem = script.stem
    one = " --nproc 1" if job.nodes * nproc == 1 else ""
    srun = f"srun --kill-on-bad-exit=1 python {shlex.quote(script.name)}{one}"
    again = f" --checkpoint {shlex.quote(stem + '.pt')} --resume auto" if checkpoints else ""
    body = BY_HAND.format(srun=srun + again) if checkpoints else srun + "\n"
    return "\n".join(
        [
            "#!/bin/bash",
            f"# Trains {script.name} with {nproc} processes on each of {job.nodes} nodes:  sbatch {stem}.sbatch",
            "# SLURM keeps a copy of this file from then on; the script is read when the job starts.",
            *head(Batch(stem, nproc, job, f"{stem.replace('%', '%%')}-%j.out")),
            "",
            *(job.prologue or ("# module load ..., source .../activate: what makes `python` the one that has torch",)),
            ENVIRONMENT,
            "",
            body,
        ]
    )
