"""What can be known before a launch to go wrong, a sentence each that says what to do."""

from __future__ import annotations

import os
import sys
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

from nbddp.run.engines.ray import checks as ray
from nbddp.run.engines.slurm.checks import look, unseen_or_too_much, with_defaults
from nbddp.run.engines.slurm.site import over, read_site
from nbddp.run.folder.folder import HOME
from nbddp.run.start.command import Origin, RunOptions
from nbddp.run.start.machine_facts import gpus, torch_version, visible
from nbddp.watch_points import WatchPoint, whole_epochs

ROOM = 16 << 20  # bytes: logs and events of a small run; nobody can know the size of a result


def ready(root: Path, options: RunOptions, origin: Origin) -> tuple[RunOptions, list[str]]:
    """What is asked for, filled in with what is known of where it is to run; and all that stands in the way."""
    if options.job is None:
        return options, problems(root, options, origin)
    if options.job.engine == "ray":
        return _on_ray(root, options, origin)
    site = read_site()
    options = replace(options, job=over(options.job, site.job))
    found = [*_of_machine(origin), *_of_folder(root), *_of_numbers(options)]
    cluster, wrong = look()
    if cluster is None:
        return options, [*found, wrong]
    options = with_defaults(options, cluster)
    return options, [*found, *unseen_or_too_much(root, options, site, cluster)]


def _on_ray(root: Path, options: RunOptions, origin: Origin) -> tuple[RunOptions, list[str]]:
    options = ray.with_address(options)
    found = [*_of_machine(origin), *_of_folder(root), *_of_numbers(options), *ray.problems(options, origin)]
    return options, found


def problems(root: Path, options: RunOptions, origin: Origin, names: tuple[str, ...] | None = None) -> list[str]:
    """All of them at once; none means that nothing is known to stand in the way. `names` are the machine's GPUs."""
    seen = visible(gpus() if names is None else names, origin.environ)
    return [
        *_of_machine(origin),
        *_of_packages(options, origin),
        *_of_folder(root),
        *_of_numbers(options),
        *_of_devices(options, seen),
    ]


def doubts(options: RunOptions, origin: Origin, names: tuple[str, ...] | None = None) -> list[str]:
    """What does not stand in the way and is seldom meant; asked for where there are no problems."""
    if options.job is not None:
        return []
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    on_gpus = bool(visible(gpus() if names is None else names, origin.environ)) and options.backend != "gloo"
    if on_gpus or (options.nproc or 0) <= cores:
        return []
    there = "1 core" if cores == 1 else f"{cores} cores"
    return [f"{options.nproc} processes share {there}: they take turns, and --nproc {cores} is likely to be faster."]


def only_whole_epochs(options: RunOptions, watch: Iterable[WatchPoint]) -> list[str]:
    """Where checkpoints are asked for within epochs, and the training has no place for them."""
    every = options.checkpoint_every or "1e"
    why = "" if every.endswith("e") else whole_epochs(tuple(watch))
    return [f"--checkpoint-every {every}: checkpoints are written only after whole epochs: {why}."] if why else []


def _of_machine(origin: Origin) -> Iterator[str]:
    if os.name != "posix":
        yield "Runs need Linux or macOS; the exported script itself runs anywhere."
    if not origin.python or not Path(origin.python).exists():
        yield f"There is no Python at {origin.python or 'an unknown place'}: start this kernel from an environment."
    elif origin.python == sys.executable and torch_version() is None:
        yield f"torch is not installed for {origin.python}: install it there (https://pytorch.org/get-started)."
    if not origin.cwd.is_dir():
        yield f"The folder {origin.cwd} no longer exists: change to another one."


def _of_packages(options: RunOptions, origin: Origin) -> Iterator[str]:
    if options.tensorboard and origin.python == sys.executable and find_spec("tensorboard") is None:
        yield f"--tensorboard needs the package tensorboard: install it for {origin.python}, or leave out the option."


def _of_folder(root: Path) -> Iterator[str]:
    """The deepest folder that is there already tells what can be made in it."""
    place = root.absolute() / HOME / "runs"
    while not place.exists() and place != place.parent:
        place = place.parent
    if not place.is_dir():
        yield f"{place} is not a folder, so no run can be kept in it: move it away, or choose another folder."
    elif not os.access(place, os.W_OK | os.X_OK):
        yield f"{place} cannot be written to, so no run can be kept in it: choose another folder."
    else:
        disk = os.statvfs(place)
        free = disk.f_bavail * disk.f_frsize
        if free < ROOM:
            yield f"The disk of {place} has {free / 1e6:.1f} MB left, too little for a run: free some space."


def _of_numbers(options: RunOptions) -> Iterator[str]:
    if options.nproc is not None and options.nproc < 1:
        yield f"--nproc must be at least 1, not {options.nproc}."
    if options.resume is not None and not Path(options.resume).exists():
        yield f"There is no checkpoint {options.resume} to resume from."
    elif options.resume is not None and not zipfile.is_zipfile(options.resume):  # the form in which torch saves
        yield f"{options.resume} is not a complete checkpoint: name a file that --checkpoint, or a run, has written."
    if options.backend is not None and options.backend not in {"gloo", "nccl", "mpi", "ucc", "xccl", "hccl"}:
        yield f"torch has no backend {options.backend}: choose nccl for GPUs or gloo for CPUs."


def _of_devices(options: RunOptions, seen: tuple[str, ...]) -> Iterator[str]:
    devices = options.devices
    if devices is not None:
        if not devices:
            yield "--devices names no device: name some, as in --devices 0,1, or leave out the option."
        if len(set(devices)) < len(devices):
            yield f"--devices {_listed(devices)} names a device twice: each can hold one process."
        for device in sorted(set(devices)):
            if not 0 <= device < len(seen):
                yield f"There is no GPU {device}: {_there_are(len(seen))}."
    count = len(seen) if devices is None else len(devices)
    if options.backend == "nccl" and not seen:
        yield "--backend nccl needs GPUs, and there are none here: choose gloo, or leave out the option."
    elif count and (options.nproc or 0) > count and options.backend != "gloo":
        yield (
            f"{options.nproc} processes need {options.nproc} GPUs, and there {_are(count)}: choose --nproc {count}, "
            "or --backend gloo, with which several processes can share one, slowly."
        )


def _listed(devices: tuple[int, ...]) -> str:
    return ",".join(str(device) for device in devices)


def _are(count: int) -> str:
    return "is 1" if count == 1 else f"are {count}"


def _there_are(count: int) -> str:
    if not count:
        return "this machine has none that torch can use; leave out --devices to train on the CPU"
    return "there is only GPU 0" if count == 1 else f"there are GPUs 0 to {count - 1}"
