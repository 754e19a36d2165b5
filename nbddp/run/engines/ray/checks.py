"""What can be known before a run is given to Ray, a sentence each."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from importlib.util import find_spec

from nbddp.run.engines.ray.dashboard import ADDRESS, address_of, call
from nbddp.run.start.command import JobOptions, Origin, RunOptions

OF_OTHERS = ("partition", "account", "time", "words")


def with_address(options: RunOptions) -> RunOptions:
    assert options.job is not None, "it is a job"
    return replace(options, job=replace(options.job, address=address_of(options.job.address)))


def problems(options: RunOptions, origin: Origin) -> Iterator[str]:
    job = options.job
    assert job is not None, "it is a job"
    yield from (f"--{name} is for SLURM: Ray has none." for name in OF_OTHERS if getattr(job, name))
    if options.devices is not None:
        yield "--devices is for this machine: Ray chooses the GPUs; --gpus says how many of each machine."
    if options.nproc is None:
        yield "--on ray needs --nproc, the number of processes on each machine."
    if origin.python == sys.executable and find_spec("ray") is None:
        yield f"--on ray needs the package ray, of the cluster's version: install it for {origin.python}."
    yield from _of_cluster(job)


def _of_cluster(job: JobOptions) -> Iterator[str]:
    if not ADDRESS.fullmatch(job.address):
        yield f"--on ray:ADDRESS takes the address of the cluster's dashboard, as head:8265, not {job.address}."
        return
    reply = call(job.address, "/api/version")
    if reply.status != 200 or "ray_version" not in reply.content:
        why = reply.why or f"status {reply.status}"
        yield (
            f"No Ray cluster answers at {job.address} ({why}): start one with its dashboard (ray[default], "
            "ray start --head), and name the dashboard as --on ray:HOST:8265."
        )
