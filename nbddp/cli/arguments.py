"""The arguments that several verbs share; one meaning and one spelling everywhere."""

from __future__ import annotations

import argparse
from pathlib import Path

from nbddp.cli.parse import Parser, cell_number, process_count
from nbddp.options import Options


def add_notebook(parser: Parser) -> None:
    parser.add_argument("notebook", type=Path, metavar="NOTEBOOK", help=".ipynb, or .py in the percent format")
    parser.add_argument(
        "--train", type=cell_number, metavar="CELL", help="number of the training cell, if none is marked"
    )
    parser.add_argument("--nproc", type=process_count, metavar="N", help="processes that the script starts by default")
    parser.add_argument(
        "--batch-per-rank", action="store_true", help="the batch size is each process's, not that of all together"
    )
    parser.add_argument(
        "--sync-batchnorm", action="store_true", help="BatchNorm over the batches of all processes together"
    )


def add_json(parser: Parser) -> None:
    parser.add_argument("--json", action="store_true", help="answer in JSON, for programs")


def add_run(parser: Parser) -> None:
    parser.add_argument(
        "run",
        nargs="?",
        metavar="RUN",
        help="its name, or a part that only one has; by default the latest of this folder",
    )


def options_of(arguments: argparse.Namespace) -> Options:
    return Options(
        train=arguments.train,
        nproc=arguments.nproc,
        batch_per_rank=arguments.batch_per_rank,
        sync_batchnorm=arguments.sync_batchnorm,
    )
