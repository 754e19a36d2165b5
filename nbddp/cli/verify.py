"""`nbddp verify x.ipynb`: the first steps of the training on one process and on N, side by side.

Status: 0 the same within rounding, 1 statistically alike, 2 different, or nothing could be compared.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

from nbddp.cli.arguments import add_json, add_notebook, options_of
from nbddp.cli.parse import Parser, Refusal, count_of_steps
from nbddp.notebook import read_notebook
from nbddp.run.doctor import problems
from nbddp.run.folder.errors import NotWarm
from nbddp.run.start.command import Origin, RunOptions
from nbddp.run.start.launch import Helper
from nbddp.run.start.warm import WarmHelper

STEPS = 20


def add_arguments(parser: Parser) -> None:
    add_notebook(parser, nproc="number of processes to compare with one; default: 2")
    parser.add_argument(
        "--steps", type=count_of_steps, default=STEPS, metavar="K", help="number of optimizer steps to compare"
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of all random numbers")
    parser.add_argument("--save", type=Path, metavar="PATH", help="save the curve of one process for a later --against")
    parser.add_argument("--against", type=Path, metavar="PATH", help="compare with a saved curve as well")
    add_json(parser)
    parser.rest = "the script's own options: its parameters"


def execute(arguments: argparse.Namespace) -> int:
    from nbddp.verify import verify
    from nbddp.verify.table import show

    refuse()
    with _helper() as helper, _ended_by_signals():
        report = verify(
            read_notebook(arguments.notebook),
            steps=arguments.steps,
            nproc=arguments.nproc or 2,
            seed=arguments.seed,
            options=options_of(arguments),
            arguments=arguments.rest,
            helper=helper,
            save=arguments.save,
            against=arguments.against,
            say=lambda words: print(f"{words} …", file=sys.stderr),
        )
    if arguments.json:
        print(json.dumps(report.as_dict(), indent=2))
    else:
        show(report, sys.stdout)
    return report.status


def refuse() -> None:
    """What is known to stand in the way, before anything starts."""
    if wrong := problems(Path.cwd(), RunOptions(), Origin.here()):
        raise Refusal("\n".join(wrong))


@contextmanager
def _helper() -> Iterator[Helper]:
    """One process loads torch for all the runs, where forking is safe."""
    try:
        helper = WarmHelper.start()
    except (NotWarm, OSError):
        yield None
        return
    try:
        yield helper
    finally:
        helper.close()


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Asked to end, it takes its runs with it, as on Ctrl-C."""

    def leave(number: int, _: object) -> NoReturn:
        raise SystemExit(128 + number)

    before = {number: signal.signal(number, leave) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
