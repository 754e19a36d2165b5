"""`nbddp runs`: the runs of this folder."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from nbddp.cli.parse import Parser, natural
from nbddp.run import verbs
from nbddp.run.prune import Bytes

KEPT = 10  # who asks for old runs to go does not mean the one that has just ended


def add_arguments(parser: Parser) -> None:
    parser.add_argument(
        "--prune",
        nargs="?",
        type=runs_or_bytes,
        const=KEPT,
        metavar="KEEP",
        help=f"delete runs that have ended, except the newest KEEP (default {KEPT}; 0 deletes all), or except the "
        "newest that fit into a size such as 500MB or 2GB",
    )

    parser.add_argument(
        "--json", action="store_true", help="print a list of objects: parameters, last and best numbers, failures"
    )


def runs_or_bytes(word: str) -> int | Bytes:
    """`10`, or `2GB`, with or without the B."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT])i?B?", word, re.IGNORECASE)
    if match is None:
        return natural(word)
    return Bytes(float(match[1]) * 1024 ** ("KMGT".index(match[2].upper()) + 1))


def execute(arguments: argparse.Namespace) -> int:
    shown = verbs.runs_as_json if arguments.json else verbs.runs
    return shown(Path.cwd(), arguments.prune)
