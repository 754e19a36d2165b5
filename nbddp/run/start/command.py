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


@dataclass(frozen=True)
class RunOptions:
    """What may be asked of a run. None leaves the choice to the script."""

    nproc: int | None = None
    devices: tuple[int, ...] | None = None  # as the kernel counts them
    seed: int | None = None
    backend: str | None = None
    resume: str | None = None
    checkpoint_every: int | None = None
    arguments: tuple[str, ...] = ()  # passed to the script as they are: its parameters
    tensorboard: bool = False  # scalars beside the run
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
    if kept.get("MPLBACKEND", "").startswith("module://"):
        kept["MPLBACKEND"] = "Agg"  # a notebook's own backend draws into cells; a script has none
    if options.devices is not None:
        kept["CUDA_VISIBLE_DEVICES"] = among_visible(options.devices, environ.get("CUDA_VISIBLE_DEVICES"))
    ours = {
        "NBDDP_EVENTS": folder.events,
        "NBDDP_RESULT": folder.result,
        "NBDDP_STOP": folder.stop,
        "NBDDP_LOGS": folder.logs,
        "NBDDP_STACKS": folder.stacks,
        "NBDDP_WATCH": folder.watch,
        "NBDDP_CHECKPOINT": folder.checkpoint,
        "NBDDP_CHECKPOINT_EVERY": options.checkpoint_every or 1,
        **({"NBDDP_RESUME": options.resume} if options.resume else {}),
        **({"NBDDP_BACKEND": options.backend} if options.backend else {}),
        **({"NBDDP_START": folder.start} if folder.start.exists() else {}),
    }
    return kept | {name: str(path) for name, path in ours.items()}


def among_visible(devices: tuple[int, ...], visible: str | None) -> str:
    """Device 1 of a kernel that sees devices 2 and 3 is device 3 of the machine."""
    names = [word.strip() for word in visible.split(",")] if visible else None
    return ",".join(str(device) if names is None else names[device] for device in devices)
