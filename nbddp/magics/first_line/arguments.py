"""The options of `%%ddp_train`: those of `nbddp run`, with the same meaning, and what only a kernel can do."""

from __future__ import annotations

import argparse
import os
import shlex
from pathlib import Path

from nbddp.cli.jobs import AFTER, add_on, job_of, split_rest
from nbddp.cli.parse import Parser, Refusal, checkpoint_interval, device_numbers, process_count
from nbddp.options import Options
from nbddp.run.folder.folders import runs_in
from nbddp.run.folder.lookup import checkpoint_of
from nbddp.run.start.command import RunOptions
from nbddp.run.start.machine_facts import gpus, visible
from nbddp.train_line import MAGIC, MODES, snapshot_names

NAME = MAGIC
ABOUT = """\
Train this cell on several processes, with the state that the notebook has, and bring the trained state back.

Interrupting the cell stops the training and keeps its last checkpoint; interrupting once more ends it at once. The
button "Finish epoch" ends it after the epoch that it is in, with the result brought back.
"""


EXAMPLES = (
    "%%ddp_train --nproc 2                    train this cell on two processes",
    "%%ddp_train --on slurm --nodes 2        train it as a job of the cluster, on two of its nodes",
    "%%ddp_train --background --export a.py   return at once, and also write the script",
)


def parser(name: str = NAME, about: str = ABOUT) -> Parser:
    """All options, those that are used most first."""
    made = Parser(prog=name, description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = made.add_argument
    add(
        "--nproc",
        type=process_count,
        metavar="N",
        values=lambda: map(str, range(1, max(2, len(_gpus())) + 1)),
        help="number of processes; default: one for each GPU, or 2 without a GPU",
    )
    add("--devices", type=device_numbers, metavar="0,1", values=_gpus, help="the GPUs to train on; default: all")
    add(
        "--mode",
        choices=MODES,
        default="ddp",
        help="ddp: on processes; single, dp: in this kernel, as %%%%single_train and %%%%dp_train; auto: ddp if there "
        "are several GPUs, else single; default: ddp",
    )
    add("--background", action="store_true", help="return at once with the run; `run.restore()` loads its result")
    add("--fresh", action="store_true", help="start from the beginning, not from the notebook's current state")
    add(
        "--batch-per-rank",
        action="store_true",
        help="the batch size is that of each process, not of all processes together",
    )
    add("--sync-batchnorm", action="store_true", help="compute BatchNorm statistics over the batches of all processes")
    add(
        "--exact",
        action="store_true",
        help="split every batch exactly: the same numbers as on one process, at the cost of loading whole batches",
    )
    add(
        "--shard",
        action="store_true",
        help="split the model, its gradients and optimizer among the processes (FSDP2)",
    )
    add(
        "--snapshot",
        type=snapshot_names,
        metavar="NAMES",
        help="pass the current values of these variables instead of running their cells; default: none",
    )
    add("--export", type=Path, metavar="PATH", help="also write the script to this path; default: nowhere")
    add(
        "--keep",
        type=snapshot_names,
        metavar="NAMES",
        help="keep the states of these in the run's folder when the notebook has loaded them; default: small ones",
    )
    add("--tensorboard", action="store_true", help="also write the run's curves beside it, for TensorBoard")
    add("--dry-run", action="store_true", help="show what would run, but do not run it")
    add("--seed", type=int, metavar="N", help="seed of all random numbers, if the notebook sets none; default: 0")
    add("--backend", values=lambda: ("nccl", "gloo"), help="nccl for GPUs, gloo for CPUs; default: the one that fits")
    add(
        "--resume",
        metavar="RUN",
        values=lambda: [run.name for run in reversed(runs_in(Path.cwd())) if run.checkpoint.exists()],
        help="continue from this run's checkpoint, or from that in a file; default: from the notebook's current state",
    )
    add(
        "--checkpoint-every",
        type=checkpoint_interval,
        metavar="10m",
        help="10m, 90s or 2h, or 500 (batches): also within epochs; 3e: only after every third; default: after each",
    )
    add_on(made)
    made.rest = AFTER
    made.examples = EXAMPLES
    return made


def _gpus() -> tuple[str, ...]:
    """By the numbers that --devices takes."""
    return tuple(str(number) for number, _ in enumerate(visible(gpus(), os.environ)))


def parse(line: str) -> argparse.Namespace | None:
    """None where help was asked for, and printed."""
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise Refusal(f"{NAME}: {error} in: {line}") from error
    try:
        return parser().parse(words)
    except SystemExit:
        return None


def options_of(arguments: argparse.Namespace, cell: int) -> Options:
    """Of the export."""
    return Options(
        train=cell,
        nproc=arguments.nproc,
        batch_per_rank=arguments.batch_per_rank or None,
        sync_batchnorm=arguments.sync_batchnorm or None,
        exact=arguments.exact or None,
        shard=arguments.shard or None,
        slurm=True if arguments.on == "slurm" else None,
        snapshot=arguments.snapshot,
    )


def run_options_of(arguments: argparse.Namespace) -> RunOptions:
    """Of the run."""
    words, own = split_rest(arguments.rest) if arguments.on == "slurm" else ((), tuple(arguments.rest))
    return RunOptions(
        nproc=arguments.nproc,
        devices=arguments.devices,
        seed=arguments.seed,
        backend=arguments.backend,
        resume=arguments.resume and checkpoint_of(Path.cwd(), arguments.resume),
        checkpoint_every=arguments.checkpoint_every,
        tensorboard=arguments.tensorboard,
        arguments=own,
        job=job_of(arguments, words),
    )
