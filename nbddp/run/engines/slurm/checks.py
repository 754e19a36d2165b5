"""What can be known before a job is submitted, a sentence each: it would wait in the queue, and then fail."""

from __future__ import annotations

import platform
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path

from nbddp.run.engines.slurm.asking import called
from nbddp.run.engines.slurm.partitions import SINFO, Partition, read_partitions
from nbddp.run.engines.slurm.site import Site
from nbddp.run.start.command import JobOptions, RunOptions

COMMANDS = ("sbatch", "scontrol", "scancel", "sinfo")
WITHIN = 20.0  # seconds, for a controller that is asked before anything starts
LOCAL = frozenset({"ext2", "ext3", "ext4", "xfs", "btrfs", "zfs", "overlay", "f2fs", "apfs", "hfs"})
MEMORY = frozenset({"tmpfs", "ramfs", "devtmpfs"})
NO_SLURM = (
    "There is no SLURM here: {missing} {are} not on the PATH of this process. Start it on a login node of the cluster, "
    "or leave out --on."
)


@dataclass(frozen=True)
class Cluster:
    """As far as it matters here."""

    partitions: dict[str, Partition]
    nodes: frozenset[str]


def look(environ_path: str | None = None) -> tuple[Cluster | None, str]:
    """The cluster, or a sentence that says why it cannot be asked."""
    missing = [name for name in COMMANDS if shutil.which(name, path=environ_path) is None]
    if missing:
        return None, NO_SLURM.format(missing=", ".join(missing), are="is" if len(missing) == 1 else "are")
    said = called(["sinfo", "--noheader", "--format", SINFO], within=WITHIN)
    if said.status != 0:
        why = (said.error.splitlines() or [f"status {said.status}"])[-1].rstrip(".")
        return None, f"SLURM's controller does not answer, so nothing was submitted: {why}."
    names = called(["sinfo", "--noheader", "--Node", "--format", "%N"], within=WITHIN).text.split()
    return Cluster(read_partitions(said.text), frozenset(names)), ""


def with_defaults(options: RunOptions, cluster: Cluster) -> RunOptions:
    """One process for each GPU of a node, where the partition has some; as many GPUs as processes."""
    assert options.job is not None, "it is a job"
    partition = _partition(options.job, cluster)
    there = partition.gpus if partition else 0
    nproc = options.nproc or there or 2
    gpus = options.job.gpus
    if gpus is None and there and not asks_for_gpus(options.job.words):
        gpus = nproc
    return replace(options, nproc=nproc, job=replace(options.job, gpus=gpus))


def asks_for_gpus(words: Iterable[str]) -> bool:
    return any(word.startswith(("--gpus", "--gres", "-G")) for word in words)


def _partition(job: JobOptions, cluster: Cluster) -> Partition | None:
    """The one that it goes to; words for sbatch may name others, which sbatch knows."""
    return cluster.partitions.get(job.partition) or next((p for p in cluster.partitions.values() if p.default), None)


def unseen_or_too_much(root: Path, options: RunOptions, site: Site, cluster: Cluster) -> Iterator[str]:
    """All of them."""
    job = options.job
    assert job is not None, "it is a job"
    if options.devices is not None:
        yield "--devices is for this machine: on a cluster SLURM chooses the GPUs; --gpus says how many of each node."
    yield from _of_partition(job, options.nproc or 1, cluster)
    yield from unseen(root, site.shared, cluster.nodes, platform.node(), mounts())


def _of_partition(job: JobOptions, nproc: int, cluster: Cluster) -> Iterator[str]:
    names = sorted(cluster.partitions)
    for name in job.partition.split(",") if job.partition else ():
        if name not in cluster.partitions:
            near = get_close_matches(name, names, n=1)
            hint = f" (did you mean {near[0]}?)" if near else ""
            yield f"There is no partition {name}{hint}: there {'is' if len(names) == 1 else 'are'} {', '.join(names)}."
            return
    partition = _partition(job, cluster)
    if partition is None or "," in job.partition:
        return
    if job.nodes > partition.nodes:
        yield f"--nodes {job.nodes}: partition {partition.name} has {partition.nodes}."
    if (job.gpus or 0) > partition.gpus:
        most = f"more than {partition.gpus}" if partition.gpus else "any"
        yield f"{job.gpus} GPUs on each node: no node of partition {partition.name} has {most}."
    elif not job.gpus and nproc > partition.cpus > 0:
        yield f"--nproc {nproc}: no node of partition {partition.name} has more than {partition.cpus} CPUs."


def unseen(
    root: Path, shared: Iterable[str], nodes: frozenset[str], here: str, table: dict[Path, str]
) -> Iterator[str]:
    """A folder that no other machine can see, as far as this one can tell."""
    place = root.resolve()
    if any(place.is_relative_to(folder) for folder in shared):
        return
    kind = next((table[path] for path in (place, *place.parents) if path in table), "")
    elsewhere = "start the notebook from a folder that all nodes see, such as your home on the cluster"
    if kind in MEMORY:
        yield f"{root} is in the memory of {here} ({kind}), which no node sees: {elsewhere}."
    elif kind in LOCAL and here not in nodes and here.partition(".")[0] not in nodes:
        yield (
            f"{root} is on a disk of {here} ({kind}), which is no node of the cluster, so its nodes do not see it: "
            f"{elsewhere}; or, if they do, name it as `shared` in the site's file."
        )


def mounts(file: Path = Path("/proc/self/mountinfo")) -> dict[Path, str]:
    """Where what kind of file system is mounted (Linux)."""
    try:
        lines = [line.split() for line in file.read_text().splitlines()]
    except OSError:
        return {}
    return {Path(words[4].replace("\\040", " ")): words[words.index("-") + 1] for words in lines if "-" in words}
