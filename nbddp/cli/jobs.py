"""The options that send a run to an engine; the same in a cell, for a run, and for a file that sbatch takes."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from nbddp.cli.parse import Parser, Refusal, count_of_nodes, natural, nearest
from nbddp.run.engines.kubernetes import manifest
from nbddp.run.engines.slurm.batch import for_script
from nbddp.run.engines.slurm.checks import asks_for_gpus
from nbddp.run.engines.slurm.site import over, read_site, save_site
from nbddp.run.start.command import JobOptions

ENGINES = ("here", "slurm", "ray")
OF_A_JOB = ("nodes", "time", "partition", "account", "gpus")
OF_PODS = ("image", "volume")
AFTER = "the script's own options, its parameters; with --on slurm words for sbatch, and the script's after one more --"


def add_on(parser: Parser) -> None:
    parser.add_argument(
        "--on",
        type=engine,
        metavar="ENGINE",
        values=lambda: ENGINES,
        help="slurm: as a job of the cluster; ray, ray:HOST:8265: as a Ray job; here: on this machine (default)",
    )
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


def add_pods(parser: Parser) -> None:
    """What else is asked for on Kubernetes."""
    parser.add_argument("--image", metavar="NAME", help="of the containers, on Kubernetes; default: its runtime's own")
    parser.add_argument("--volume", type=volume, metavar="CLAIM:/PATH", help="that all pods have, on Kubernetes")


def volume(word: str) -> str:
    claim, _, path = word.partition(":")
    if not re.fullmatch(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?", claim) or not re.fullmatch(r"/[^:\s]*[^:\s/]", path):
        raise argparse.ArgumentTypeError(f"it takes a claim and a path, as data:/shared, not {word!r}")
    return word


def engine(word: str) -> str:
    """Its name; Ray's may be followed by where the cluster's dashboard is."""
    name, _, address = word.partition(":")
    if name not in ENGINES or (address and name != "ray"):
        near = nearest(name, ENGINES)
        raise argparse.ArgumentTypeError(f"there is no engine {word!r}{near}: choose one of {', '.join(ENGINES)}")
    return word


def split_rest(rest: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Words for sbatch, and the script's own."""
    place = rest.index("--") if "--" in rest else len(rest)
    return tuple(rest[:place]), tuple(rest[place + 1 :])


def _given(found: argparse.Namespace) -> dict[str, Any]:
    return {name: value for name in OF_A_JOB if (value := getattr(found, name)) is not None}


def job_of(found: argparse.Namespace, words: Sequence[str]) -> JobOptions | None:
    """None where it is to run on this machine."""
    given = _given(found)
    name, _, address = (found.on or "here").partition(":")
    if name != "here":
        return JobOptions(**given, engine=name, address=address, words=tuple(words))
    if given and found.on is None:
        raise Refusal(f"--{next(iter(given))} is for a job: add --on slurm, or --on ray")
    return None


def keep_site(found: argparse.Namespace, job: JobOptions | None) -> None:
    if found.save_site:
        if job is None or job.engine != "slurm":
            raise Refusal("--save-site keeps what jobs are asked for: add --on slurm")
        print(f"Kept as defaults in {save_site(job)}.")


def batch_text(found: argparse.Namespace, script: Path, nproc: int | None) -> str:
    """What sbatch takes for this script, the site's defaults filled in; a GPU for each process unless it is said."""
    job = over(JobOptions(**_given(found), words=tuple(found.rest)), read_site().job)
    nproc = nproc or job.gpus
    if not nproc:
        raise Refusal("export: --sbatch needs --nproc, the number of processes on each node")
    gpus = nproc if job.gpus is None and not asks_for_gpus(job.words) else job.gpus
    return for_script(script, nproc, replace(job, gpus=gpus), checkpoints=found.checkpoints)


def manifest_text(found: argparse.Namespace, script: Path, text: str, nproc: int | None) -> str:
    """What kubectl takes; a GPU for each process unless it is said."""
    for name in ("time", "partition", "account"):
        if getattr(found, name) is not None:
            raise Refusal(f"export: --{name} is for SLURM")
    job = JobOptions(**_given(found), image=found.image or "", volume=found.volume or "")
    nproc = nproc or job.gpus
    if not nproc:
        raise Refusal("export: --k8s needs --nproc, the number of processes on each node")
    job = replace(job, gpus=nproc if job.gpus is None else job.gpus)
    return manifest.for_script(script, text, nproc, job, checkpoints=found.checkpoints)


def write_beside(path: Path, text: str, *, force: bool, command: str) -> None:
    """One that was changed by hand stays."""
    if path.exists() and path.read_text(encoding="utf-8") != text and not force:
        raise Refusal(f"export: {path} is there and reads otherwise; --force overwrites it")
    path.write_text(text, encoding="utf-8")
    print(f"{path} written: {command} {path.name}", file=sys.stderr)
