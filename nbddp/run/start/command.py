"""The command of a run: words and environment, as a function of what was asked for."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from nbddp.run.folder.folder import RunFolder

INSIDE = Path(__file__).parents[1] / "processes" / "inside.py"

# A kernel may itself live in a job of torchrun or srun. What that left in the environment would make the script believe
# that it is one of its ranks, or meet the others at a port that is taken.
OF_ANOTHER_JOB = frozenset(
    {"RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "GROUP_RANK", "GROUP_WORLD_SIZE", "ROLE_RANK"}
    | {"ROLE_WORLD_SIZE", "ROLE_NAME", "MASTER_ADDR", "MASTER_PORT", "SLURM_PROCID", "SLURM_LOCALID"}
)


# What is true for one machine, or one job, only.
OF_THIS_MACHINE = ("SLURM_", "SBATCH_", "SRUN_", "SALLOC_", "PMI_", "PMIX_")
OF_ITS_GPUS = frozenset({"CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL"})
TO_THE_CLUSTER = frozenset({"SLURM_CONF", "SLURM_JWT"})  # by which its commands find it, and are let in


@dataclass(frozen=True)
class JobOptions:
    """What is asked of an engine for a run that is a job of it. Empty or None leaves the choice to the site."""

    engine: str = "slurm"
    address: str = ""  # of the engine, where it has one
    nodes: int = 1
    gpus: int | None = None  # of each node
    time: str = ""
    partition: str = ""
    account: str = ""
    image: str = ""  # of containers
    volume: str = ""  # that they all have: its claim, and where it is, as claim:/path
    words: tuple[str, ...] = ()  # more of the engine's own options
    prologue: tuple[str, ...] = ()  # lines of shell, before anything else is done on a node


@dataclass(frozen=True)
class RunOptions:
    """What may be asked of a run. None leaves the choice to the script."""

    nproc: int | None = None  # on each machine
    devices: tuple[int, ...] | None = None  # as the kernel counts them
    seed: int | None = None
    backend: str | None = None
    resume: str | None = None
    checkpoint_every: str | None = None  # 10m, 500 (batches), 3e (epochs)
    arguments: tuple[str, ...] = ()  # passed to the script as they are: its parameters
    tensorboard: bool = False  # scalars beside the run
    job: JobOptions | None = None  # None: on this machine
    attended: bool = False  # it ends with the process that starts it, however that ends
    quiet: float = 60.0  # seconds without a word until the ranks are asked what they wait for
    grace: float = 5.0  # seconds from being asked to end to being killed


@dataclass(frozen=True)
class Origin:
    """Where a run is asked for: a kernel or a shell, whose interpreter, folder and variables the run gets."""

    python: str
    cwd: Path
    environ: Mapping[str, str]

    @classmethod
    def here(cls) -> Origin:
        """This very process, as it is now."""
        return cls(sys.executable, Path.cwd(), dict(os.environ))


@dataclass(frozen=True)
class Command:
    """How to run the script: `python -X faulthandler inside.py <arguments>` in this folder with this environment."""

    python: str
    arguments: tuple[str, ...]  # the script's path first
    environment: Mapping[str, str]
    cwd: str

    @property
    def argv(self) -> tuple[str, ...]:
        """For a process of its own. Its crashes are logged with a stack."""
        return (self.python, "-X", "faulthandler", str(INSIDE), *self.arguments)


def build(folder: RunFolder, options: RunOptions, script: str, origin: Origin) -> Command:
    """The command that runs this text, which is in the folder, as if it were run from there."""
    given = {
        "--nproc": options.nproc,
        "--seed": options.seed if '"--seed"' in script else None,  # else it seeds itself
        "--snapshot": folder.snapshot if folder.snapshot.exists() else None,
    }
    words = [word for name, value in given.items() if value is not None for word in (name, str(value))]
    arguments = (str(folder.script), *words, *options.arguments)
    return Command(origin.python, arguments, environment(folder, options, origin.environ), str(origin.cwd))


def environment(folder: RunFolder, options: RunOptions, environ: Mapping[str, str]) -> dict[str, str]:
    """The kernel's variables, without those that are true for the kernel only, and with ours."""
    kept = {
        name: value
        for name, value in environ.items()
        if name not in OF_ANOTHER_JOB and not name.startswith(("TORCHELASTIC_", "NBDDP_"))
    }
    if options.job is not None:
        kept = outside_of_jobs(kept)
    if kept.get("MPLBACKEND", "").startswith("module://"):
        kept["MPLBACKEND"] = "Agg"  # a notebook's own backend draws into cells; a script has none
    if options.devices is not None:
        kept["CUDA_VISIBLE_DEVICES"] = among_visible(options.devices, environ.get("CUDA_VISIBLE_DEVICES"))
    ours = {
        "NBDDP_EVENTS": folder.path / "events.%h.jsonl" if options.job else folder.events,
        "NBDDP_RESULT": folder.result,
        "NBDDP_STOP": folder.stop,
        "NBDDP_LOGS": folder.logs,
        "NBDDP_STACKS": folder.stacks,
        "NBDDP_WATCH": folder.watch,
        "NBDDP_CHECKPOINT": folder.checkpoint,
        "NBDDP_CHECKPOINT_EVERY": options.checkpoint_every or "1e",
        **({"NBDDP_RESUME": options.resume} if options.resume else {}),
        **({"NBDDP_BACKEND": options.backend} if options.backend else {}),
        **({"NBDDP_PAUSE": folder.pause} if options.job else {}),
        **({"NBDDP_START": folder.start} if folder.start.exists() else {}),
    }
    return kept | {name: str(path) for name, path in ours.items()}


def outside_of_jobs(environ: Mapping[str, str]) -> dict[str, str]:
    """Without what a job that this process may itself be in, or this machine, has set."""
    return {
        name: value
        for name, value in environ.items()
        if name in TO_THE_CLUSTER or not (name.startswith(OF_THIS_MACHINE) or name in OF_ITS_GPUS)
    }


def among_visible(devices: tuple[int, ...], visible: str | None) -> str:
    """Device 1 of a kernel that sees devices 2 and 3 is device 3 of the machine."""
    names = [word.strip() for word in visible.split(",")] if visible else None
    return ",".join(str(device) if names is None else names[device] for device in devices)
