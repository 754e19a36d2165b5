"""What stands behind `%%ddp_train` in a cell. What of it concerns the script counts at every front door."""

from __future__ import annotations

import argparse
import shlex
from dataclasses import dataclass, field
from typing import NoReturn

from nbddp.options import Options

MAGIC = "%%ddp_train"
# Of a run, and of a kernel: a script has no use for these.
FLAGS = (
    "save-site",
    "background",
    "fresh",
    "dry-run",
    "tensorboard",
)
OF_A_JOB = ("on", "nodes", "time", "partition", "account", "gpus")
MODES = ("ddp", "auto", "single", "dp")  # where the cell trains, which is the kernel's to know
SETTINGS = ("devices", "export", "seed", "backend", "resume", "checkpoint-every", "keep", *OF_A_JOB)


class CannotParse(ValueError):
    """The line is none that the magic would take; the text says why."""


@dataclass(frozen=True)
class TrainLine:
    """`words` are those for a run, as they stand there; `rest` is what follows a `--`, the script's own options."""

    options: Options = field(default_factory=Options)
    words: tuple[str, ...] = ()
    rest: tuple[str, ...] = ()


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise CannotParse(message)


def parse_train_line(line: str) -> TrainLine:
    """All that it says; CannotParse where the magic would refuse it too."""
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise CannotParse(str(error)) from error
    own = words[: words.index("--")] if "--" in words else words
    if "--help" in own or "-h" in own:
        return TrainLine()
    found = _parser().parse_args(own)
    run = [f"--{name}={value}" for name in SETTINGS if (value := getattr(found, name.replace("-", "_"))) is not None]
    run += ["--tensorboard"] if found.tensorboard else []
    options = Options(
        nproc=found.nproc,
        batch_per_rank=found.batch_per_rank or None,
        sync_batchnorm=found.sync_batchnorm or None,
        exact=found.exact or None,
        shard=found.shard or None,
        slurm=True if found.on == "slurm" else None,
        snapshot=found.snapshot,
    )
    return TrainLine(options, tuple(run), tuple(words[len(own) + 1 :]))


def _parser() -> _Parser:
    parser = _Parser(add_help=False, allow_abbrev=False)
    parser.add_argument("--nproc", type=_processes)
    parser.add_argument("--snapshot", type=snapshot_names)
    for name in ("batch-per-rank", "sync-batchnorm", "exact", "shard", *FLAGS):
        parser.add_argument(f"--{name}", action="store_true")
    parser.add_argument("--mode", choices=MODES)
    for name in SETTINGS:
        parser.add_argument(f"--{name}")
    return parser


def _processes(word: str) -> int:
    if not (word.isdecimal() and int(word) >= 1):
        raise argparse.ArgumentTypeError(f"it takes a number of processes, at least 1, not {word!r}")
    return int(word)


def snapshot_names(word: str) -> tuple[str, ...]:
    """`xs,ys`: names of variables."""
    names = tuple(name.strip() for name in word.split(",") if name.strip())
    if wrong := next((name for name in names if not name.isidentifier()), None):
        raise argparse.ArgumentTypeError(f"it takes names of variables such as xs,ys, not {wrong!r}")
    if not names:
        raise argparse.ArgumentTypeError("it takes names of variables such as xs,ys")
    return tuple(dict.fromkeys(names))
