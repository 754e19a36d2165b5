"""The options of `%%ddp_train`: those of `nbddp run`, with the same meaning, and what only a kernel can do."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path

from nbddp.cli.parse import Parser, Refusal, count_of_epochs, device_numbers, process_count
from nbddp.options import Options
from nbddp.run.command import RunOptions
from nbddp.train_line import MAGIC, MODES, snapshot_names

NAME = MAGIC
ABOUT = """\
Train this cell on several processes, with the state that the notebook has, and bring the trained state back.

Interrupting the cell stops the training and keeps its last checkpoint; interrupting once more ends it at once. The
button "Finish epoch" ends it after the epoch that it is in, with the result brought back.
"""


def parser(name: str = NAME, about: str = ABOUT) -> Parser:
    """All options, those that are used most first."""
    made = Parser(prog=name, description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = made.add_argument
    add("--nproc", type=process_count, metavar="N", help="processes: by default one for each GPU, else 2 on the CPU")
    add("--devices", type=device_numbers, metavar="0,1", help="the GPUs to train on")
    add("--mode", choices=MODES, default="ddp", help="auto: processes where there are several GPUs, else this kernel")
    add("--background", action="store_true", help="come back at once with the run; `run.restore()` gets its result")
    add("--fresh", action="store_true", help="start as the cells do, not from the state that the notebook has")
    add("--batch-per-rank", action="store_true", help="the batch size is each process's, not that of all together")
    add("--sync-batchnorm", action="store_true", help="BatchNorm over the batches of all processes together")
    add(
        "--snapshot",
        type=snapshot_names,
        metavar="NAMES",
        help="hand these variables over as they are",
    )
    add("--export", type=Path, metavar="PATH", help="write the script there as well")
    add("--dry-run", action="store_true", help="say what would run, and do not")
    add("--seed", type=int, help="seed of all random numbers")
    add("--backend", help="nccl for GPUs, gloo for CPUs; by default the one that fits")
    add("--resume", metavar="PATH", help="a checkpoint to go on from")
    add("--checkpoint-every", type=count_of_epochs, metavar="N", help="epochs between checkpoints")
    made.rest = "the script's own options, its parameters"
    return made


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
        cell,
        arguments.nproc,
        arguments.batch_per_rank or None,
        arguments.sync_batchnorm or None,
        arguments.snapshot,
    )


def run_options_of(arguments: argparse.Namespace) -> RunOptions:
    """Of the run."""
    return RunOptions(
        nproc=arguments.nproc,
        devices=arguments.devices,
        seed=arguments.seed,
        backend=arguments.backend,
        resume=arguments.resume and str(Path(arguments.resume).expanduser().absolute()),  # the script may go elsewhere
        checkpoint_every=arguments.checkpoint_every,
        arguments=tuple(arguments.rest),
    )
