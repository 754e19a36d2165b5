"""`nbddp stop`: ends a run, as gently as is asked."""

from __future__ import annotations

import argparse
from pathlib import Path

from nbddp.cli.arguments import add_run
from nbddp.cli.parse import Parser
from nbddp.run import verbs
from nbddp.run.state.endings import GRADES


def add_arguments(parser: Parser) -> None:
    add_run(parser)
    parser.add_argument(
        "--grade",
        choices=GRADES,
        default="now",
        help="epoch: finish this epoch and keep the result; now: keep the last checkpoint; kill: end at once "
        "(default: now)",
    )


def execute(arguments: argparse.Namespace) -> int:
    return verbs.stop(Path.cwd(), arguments.run, arguments.grade)
