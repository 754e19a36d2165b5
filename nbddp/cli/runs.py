"""`nbddp runs`: the runs of this folder."""

from __future__ import annotations

import argparse
from pathlib import Path

from nbddp.cli.parse import Parser, natural
from nbddp.run import verbs

KEPT = 10  # who asks for old runs to go does not mean the one that has just ended


def add_arguments(parser: Parser) -> None:
    parser.add_argument(
        "--prune",
        nargs="?",
        type=natural,
        const=KEPT,
        metavar="KEEP",
        help=f"delete runs that have ended, except the newest KEEP (default {KEPT}; 0 deletes all)",
    )


def execute(arguments: argparse.Namespace) -> int:
    return verbs.runs(Path.cwd(), arguments.prune)
