"""`nbddp runs`: the runs of this folder."""

from __future__ import annotations

import argparse
from pathlib import Path

from nbddp.cli.parse import Parser, natural
from nbddp.run import verbs


def add_arguments(parser: Parser) -> None:
    parser.add_argument(
        "--prune",
        nargs="?",
        type=natural,
        const=0,
        metavar="KEEP",
        help="delete all that have ended but the newest KEEP",
    )


def execute(arguments: argparse.Namespace) -> int:
    return verbs.runs(Path.cwd(), arguments.prune)
