"""The arguments that several verbs share; one meaning and one spelling everywhere."""

from __future__ import annotations

import argparse
from pathlib import Path

from nbddp.cli.parse import Parser, cell_number, process_count
from nbddp.options import Options
from nbddp.run.folder.folders import runs_in
from nbddp.train_line import snapshot_names


def add_notebook(parser: Parser, nproc: str = "number of processes that the script starts by default") -> None:
    parser.add_argument(
        "notebook", type=Path, metavar="NOTEBOOK", help=".ipynb file, or .py file in the percent format"
    )
    parser.add_argument(
        "--train", type=cell_number, metavar="CELL", help="number of the training cell, if none is marked"
    )
    parser.add_argument("--nproc", type=process_count, metavar="N", help=nproc)
    flag = argparse.BooleanOptionalAction
    parser.add_argument(
        "--batch-per-rank", action=flag, help="the batch size is that of each process, not of all processes together"
    )
    parser.add_argument(
        "--sync-batchnorm", action=flag, help="compute BatchNorm statistics over the batches of all processes"
    )
    parser.add_argument(
        "--exact",
        action=flag,
        help="split every batch exactly: the same numbers as on one process, at the cost of loading whole batches",
    )
    parser.add_argument(
        "--checkpoints",
        action=flag,
        help="add checkpoints to the script (its options --checkpoint PATH, --resume PATH)",
    )
    parser.add_argument(
        "--shard", action=flag, help="split the model, its gradients and optimizer among the processes (FSDP2)"
    )
    parser.add_argument("--slurm", action=flag, help="add what the script needs to be started by srun")
    parser.add_argument(
        "--per-machine",
        action=flag,
        help="one process for each machine, which splits its batches among its GPUs (nn.DataParallel): slower than "
        "one for each GPU",
    )
    parser.add_argument(
        "--snapshot",
        type=snapshot_names,
        metavar="NAMES",
        help="variables that the script reads from a file instead of running their cells",
    )
    parser.add_argument(
        "--no-snapshot",
        dest="snapshot",
        action="store_const",
        const=(),
        help="no such variables, even if the cell names some",
    )


def add_json(parser: Parser) -> None:
    parser.add_argument("--json", action="store_true", help="answer in JSON, for programs")


def add_run(parser: Parser) -> None:
    parser.add_argument(
        "run",
        nargs="?",
        metavar="RUN",
        values=run_names,
        help="its name, or a part of it that fits only one run; default: the latest in this folder",
    )


def run_names() -> list[str]:
    """Of the runs of this folder, the latest first."""
    return [folder.name for folder in reversed(runs_in(Path.cwd()))]


def options_of(arguments: argparse.Namespace) -> Options:
    return Options(
        train=arguments.train,
        nproc=arguments.nproc,
        batch_per_rank=arguments.batch_per_rank,
        sync_batchnorm=arguments.sync_batchnorm,
        exact=arguments.exact,
        checkpoints=arguments.checkpoints,
        slurm=arguments.slurm,
        shard=arguments.shard,
        per_machine=arguments.per_machine,
        snapshot=arguments.snapshot,
    )
