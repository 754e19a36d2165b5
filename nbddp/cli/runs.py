"""`nbddp runs`: the runs of this folder, listed, titled, noted, deleted."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from nbddp.cli.arguments import run_names
from nbddp.cli.parse import Parser, natural
from nbddp.run import keeping, verbs
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
    parser.add_argument("--rename", nargs=2, metavar=("RUN", "TITLE"), values=run_names, help="give a run a title")
    parser.add_argument("--note", nargs=2, metavar=("RUN", "TEXT"), values=run_names, help="keep a note with a run")
    parser.add_argument("--delete", nargs="+", metavar="RUN", values=run_names, help="delete these runs")
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
    root = Path.cwd()
    if arguments.rename:
        return keeping.rename(root, *arguments.rename)
    if arguments.note:
        return keeping.note(root, *arguments.note)
    if arguments.delete:
        return keeping.delete_runs(root, arguments.delete)
    shown = verbs.runs_as_json if arguments.json else verbs.runs
    return shown(root, arguments.prune)
