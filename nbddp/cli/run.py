"""`nbddp run x.ipynb`: the script of `nbddp export`, run in a folder of its own and shown to its end."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from nbddp.cli.arguments import add_notebook, options_of
from nbddp.cli.jobs import AFTER, add_on, job_of, keep_site, split_rest
from nbddp.cli.parse import Parser, Refusal, checkpoint_interval, device_numbers
from nbddp.cli.show import show
from nbddp.export import export
from nbddp.notebook import Notebook, read_notebook
from nbddp.run import verbs
from nbddp.run.folder.line_map import line_map
from nbddp.run.folder.lookup import checkpoint_of
from nbddp.run.start.command import RunOptions
from nbddp.train_line import TrainLine, parse_train_line

if TYPE_CHECKING:
    from nbddp.export import Script


def add_arguments(parser: Parser) -> None:
    add_notebook(parser)
    _add_run_options(parser)
    parser.add_argument("--background", action="store_true", help="start the run and return; `nbddp attach` shows it")
    parser.rest = AFTER


def _add_run_options(parser: Parser) -> None:
    add_on(parser)
    parser.add_argument("--devices", type=device_numbers, metavar="0,1", help="the GPUs to train on")
    parser.add_argument("--seed", type=int, help="seed of all random numbers, if the notebook sets none")
    parser.add_argument("--backend", help="nccl for GPUs, gloo for CPUs; default: the one that fits")
    parser.add_argument(
        "--tensorboard",
        action="store_true",
        default=None,
        help="also write the run's curves beside it, for TensorBoard",
    )
    parser.add_argument("--resume", metavar="RUN", help="continue from this run's checkpoint, or from that in a file")
    parser.add_argument(
        "--checkpoint-every",
        type=checkpoint_interval,
        metavar="10m",
        help="10m, 90s or 2h, or 500 (batches): also within epochs; 3e: only after every third; default: after each",
    )


def execute(arguments: argparse.Namespace) -> int:
    notebook = read_notebook(arguments.notebook)
    if arguments.on == "slurm":
        arguments.slurm = True
    script = export(notebook, options_of(arguments))
    show(script.diagnostics, sys.stderr)
    line = _line_of(notebook, script)
    options = _run_options(arguments, script.plan.options.nproc, line)
    names = script.plan.handed_over
    if names and not any(word.startswith("--snapshot") for word in options.arguments):
        raise Refusal(
            f"run: the training cell takes {', '.join(names)} from a running notebook, and there is none here: use "
            "--no-snapshot to let the cells create them, or `-- --snapshot PATH` with a file that a run from the "
            "notebook has saved"
        )
    return verbs.run(
        script.text,
        arguments.notebook.stem,
        options,
        root=Path.cwd(),
        line_map=list(line_map(notebook, script.line_map)),
        watch=script.watch,
        background=arguments.background,
    )


def _line_of(notebook: Notebook, script: Script) -> TrainLine:
    """What the training cell's own line asks for; the export has found it well formed."""
    cell = next(cell for cell in notebook.cells if cell.number == script.plan.training_cell)
    return parse_train_line(cell.magic_line) if cell.mode == "ddp" else TrainLine()


def _run_options(arguments: argparse.Namespace, nproc: int | None, line: TrainLine) -> RunOptions:
    """The command line's own before those of the cell's line."""
    parser = Parser(prog="%%ddp_train", add_help=False)
    _add_run_options(parser)
    for name in ("--export", "--keep"):  # which are for the kernel
        parser.add_argument(name)
    asked = {name: value for name, value in vars(arguments).items() if value is not None}
    of_line = parser.parse(line.words)
    found = {**vars(of_line), **asked}
    words: list[str] = []
    own: list[str] = []
    for on, rest in ((of_line.on, line.rest), (found["on"], arguments.rest)):
        for_sbatch, for_script = split_rest(rest) if on == "slurm" else ((), rest)
        words += for_sbatch
        own += for_script
    job = job_of(argparse.Namespace(**found), words)
    keep_site(arguments, job)
    return RunOptions(
        nproc=nproc,
        devices=found["devices"],
        seed=found["seed"],
        backend=found["backend"],
        resume=found["resume"] and checkpoint_of(Path.cwd(), found["resume"]),
        checkpoint_every=found["checkpoint_every"],
        tensorboard=bool(found["tensorboard"]),
        arguments=tuple(own),
        job=job,
    )
