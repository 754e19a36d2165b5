"""What a site wants of each job, kept in a file, so that a cell need not say it: account, partition, modules to load.

[slurm]
account = vision
partition = gpu
time = 4:00:00
words = --qos=normal --mem=64G
shared = /home /scratch
prologue =
    module load cuda/12.4
    source /shared/env/bin/activate
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from configparser import ConfigParser, Error
from dataclasses import dataclass, field, fields, replace
from pathlib import Path

from nbddp.run.folder.errors import LaunchFailed
from nbddp.run.folder.files import write_whole
from nbddp.run.start.command import JobOptions

SYSTEM = Path("/etc/nbddp/slurm.ini")
SECTION = "slurm"
TEXTS = ("partition", "account", "time")
KNOWN = (*TEXTS, "gpus", "words", "prologue", "shared")


@dataclass(frozen=True)
class Site:
    """`shared` are folders that all nodes see, where this machine cannot tell, as on the server of the file system."""

    job: JobOptions = field(default_factory=JobOptions)
    shared: tuple[str, ...] = ()


def own_file(environ: Mapping[str, str] = os.environ) -> Path:
    """The user's, whose settings count before those of the system's."""
    home = environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(home) / "nbddp" / "slurm.ini"


def read_site(files: Sequence[Path] | None = None) -> Site:
    """All that is set; LaunchFailed where a file cannot be read as one."""
    settings: dict[str, str] = {}
    for file in (SYSTEM, own_file()) if files is None else files:
        settings |= _read(file)
    gpus = settings.get("gpus", "").strip()
    if gpus and not gpus.isdecimal():
        raise LaunchFailed(f"gpus in the site's file takes a number, not {gpus!r}.")
    job = JobOptions(
        partition=settings.get("partition", "").strip(),
        account=settings.get("account", "").strip(),
        time=settings.get("time", "").strip(),
        gpus=int(gpus) if gpus else None,
        words=tuple(shlex.split(settings.get("words", ""))),
        prologue=tuple(line for line in settings.get("prologue", "").splitlines() if line.strip()),
    )
    return Site(job, tuple(settings.get("shared", "").split()))


def _read(file: Path) -> dict[str, str]:
    parser = ConfigParser(interpolation=None)
    try:
        parser.read(file, encoding="utf-8")
    except (Error, UnicodeDecodeError) as error:
        raise LaunchFailed(f"{file} could not be read: {str(error).splitlines()[0]}") from error
    found = dict(parser[SECTION]) if parser.has_section(SECTION) else {}
    if unknown := sorted(found.keys() - set(KNOWN)):
        raise LaunchFailed(f"{file} sets {', '.join(unknown)}, which nbddp does not know: {', '.join(KNOWN)}.")
    return found


def over(asked: JobOptions, site: JobOptions) -> JobOptions:
    """What was asked for, and where that says nothing what the site says; more words go before those asked for."""
    given = {f.name: value for f in fields(asked) if (value := getattr(asked, f.name)) not in ("", (), None)}
    return replace(site, **{**given, "words": (*site.words, *asked.words)})


def save_site(job: JobOptions, file: Path | None = None) -> Path:
    """Keep these options as defaults, over those of the user's file that say the same; its other lines stay."""
    file = file or own_file()
    kept = _read(file)
    kept |= {name: getattr(job, name) for name in TEXTS if getattr(job, name)}
    kept |= {"gpus": str(job.gpus)} if job.gpus is not None else {}
    kept |= {"words": shlex.join(job.words)} if job.words else {}
    lines = [f"{name} = {value}".replace("\n", "\n    ") for name, value in kept.items()]
    file.parent.mkdir(parents=True, exist_ok=True)
    write_whole(file, "\n".join([f"[{SECTION}]", *lines, ""]))
    return file
