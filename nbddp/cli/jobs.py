"""The options that send a run to an engine; the same in a cell, for a run, and for a file that sbatch takes."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from nbddp.cli.parse import Parser, Refusal, count_of_nodes, natural
from nbddp.run.engines.slurm.site import save_site
from nbddp.run.start.command import JobOptions

ENGINES = ("here", "slurm")
OF_A_JOB = ("nodes", "time", "partition", "account", "gpus")
AFTER = "the script's own options, its parameters; with --on slurm words for sbatch, and the script's after one more --"


def add_on(parser: Parser) -> None:
    parser.add_argument("--on", choices=ENGINES, help="slurm: as a job of the cluster; here: on this machine (default)")
    add_job(parser)
    parser.add_argument(
        "--save-site", action="store_true", help="keep partition, account, time, GPUs and words as defaults of all jobs"
    )


def add_job(parser: Parser) -> None:
    """What a job is asked for."""
    parser.add_argument("--nodes", type=count_of_nodes, metavar="N", help="number of machines; --nproc is for each")
    parser.add_argument("--time", metavar="2:00:00", help="time limit, as sbatch takes it")
    parser.add_argument("--partition", metavar="NAME", help="of the cluster")
    parser.add_argument("--account", metavar="NAME", help="that the job is charged to")
    parser.add_argument(
        "--gpus", type=natural, metavar="N", help="GPUs on each node; default: one for each process, 0 for none"
    )


def split_rest(rest: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Words for sbatch, and the script's own."""
    place = rest.index("--") if "--" in rest else len(rest)
    return tuple(rest[:place]), tuple(rest[place + 1 :])


def job_of(found: argparse.Namespace, words: Sequence[str]) -> JobOptions | None:
    """None where it is to run on this machine."""
    given = {name: value for name in OF_A_JOB if (value := getattr(found, name)) is not None}
    if found.on == "slurm":
        return JobOptions(**given, words=tuple(words))
    if given and found.on is None:
        raise Refusal(f"--{next(iter(given))} is for a job: add --on slurm")
    return None


def keep_site(found: argparse.Namespace, job: JobOptions | None) -> None:
    if found.save_site:
        if job is None:
            raise Refusal("--save-site keeps what jobs are asked for: add --on slurm")
        print(f"Kept as defaults in {save_site(job)}.")
