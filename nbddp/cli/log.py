"""`nbddp log`: what a rank has printed."""

from __future__ import annotations

import argparse
from pathlib import Path

from nbddp.cli.arguments import add_run
from nbddp.cli.parse import Parser, natural
from nbddp.run import verbs


def add_arguments(parser: Parser) -> None:
    add_run(parser)
    parser.add_argument(
        "--rank", type=natural, default=0, metavar="N", help="the rank whose output is printed (default: 0)"
    )
    parser.add_argument("--last", type=natural, metavar="N", help="print only the last N lines")


def execute(arguments: argparse.Namespace) -> int:
    return verbs.log(Path.cwd(), arguments.run, arguments.rank, arguments.last)
