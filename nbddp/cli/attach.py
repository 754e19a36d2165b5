"""`nbddp attach`: a run that is there already, from its beginning to its end."""

from __future__ import annotations

import argparse
from pathlib import Path

from nbddp.cli.arguments import add_run
from nbddp.cli.parse import Parser
from nbddp.run import verbs


def add_arguments(parser: Parser) -> None:
    add_run(parser)


def execute(arguments: argparse.Namespace) -> int:
    return verbs.attach(Path.cwd(), arguments.run)
