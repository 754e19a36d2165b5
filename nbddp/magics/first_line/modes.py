"""The first line of a cell that trains in the kernel, and which of the modes `--mode auto` stands for."""

from __future__ import annotations

import argparse
import os
import re
import shlex
from collections.abc import Mapping, Sequence
from itertools import pairwise

from nbddp.cli.jobs import OF_A_JOB
from nbddp.cli.parse import Parser, Refusal, device_numbers
from nbddp.magics.first_line import arguments
from nbddp.run.start.machine_facts import gpus, visible

ABOUT = {
    "single_train": "Run this cell in the kernel, on one device, with a live view of its training.",
    "dp_train": "Run this cell in the kernel, with its models in nn.DataParallel while it runs, and with a live view.",
}
EXAMPLES = {
    "single_train": (
        "%%single_train                   train this cell on the device that the notebook uses",
        "%%single_train --device cuda:1   train it on another one",
    ),
    "dp_train": (
        "%%dp_train                       split each batch among all GPUs",
        "%%dp_train --devices 0,1         split it among these two",
    ),
}
MODES = {"single": "single_train", "dp": "dp_train"}
FIRST_LINE = re.compile(r"%%(ddp_train|dp_train|single_train)\b(?!\?)[ \t]*(.*)")  # with a `?`, IPython shows its help

# Options of %%ddp_train that say nothing in one process, and those that would make another training of it.
MEANINGLESS = ("nproc", "background", "batch_per_rank", "sync_batchnorm", "exact", "shard", "snapshot",
               "backend", "checkpoint_every", "export", "keep", "tensorboard", "on", *OF_A_JOB,
               "save_site")  # fmt: skip
OTHER = {
    "fresh": "--fresh is for runs on processes: here, run the cells that create the model and its optimizer again",
    "resume": "--resume is for runs on processes: here, load what you need from the checkpoint in a cell",
    "seed": "--seed is for runs on processes: here, call torch.manual_seed in a cell",
}


def kernel_line(line: str, environ: Mapping[str, str] | None = None) -> tuple[str, str] | None:
    """The magic that stands for this first line, and its options, where the cell is to run in the kernel."""
    match = FIRST_LINE.fullmatch(line.rstrip())
    if match is None:
        return None
    if match[1] != "ddp_train":
        return match[1], match[2]
    mode = _mode(match[2])
    if mode == "auto":
        mode = "ddp" if _device_count(match[2], os.environ if environ is None else environ) > 1 else "single"
    return (MODES[mode], match[2]) if mode in MODES else None


def which(line: str, name: str) -> str:
    """The sentence that says what `--mode auto` has come to."""
    if _mode(line) != "auto":
        return ""
    count = _device_count(line, os.environ)
    if name == "ddp_train":
        return f"--mode auto: {count} GPUs, so the cell trains on {count} processes (ddp)."
    there = "one GPU" if count else "no GPU"
    return f"--mode auto: {there}, so the cell trains in this kernel (single)."


def parse(name: str, line: str) -> argparse.Namespace | None:
    """None where help was asked for, and printed."""
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise Refusal(f"%%{name}: {error} in: {line}") from error
    try:
        found = parser(name).parse(words)
    except SystemExit:
        return None
    _refuse(name, found)
    return found


def left_out(name: str, found: argparse.Namespace) -> str:
    """Options that are for processes, named in a sentence."""
    given = [f"--{option.replace('_', '-')}" for option in MEANINGLESS if getattr(found, option)]
    given += ["--devices"] if name == "single_train" and found.devices else []
    return f"{', '.join(given)}: only for runs on processes, ignored here." if given else ""


def parser(name: str) -> Parser:
    """All of `%%ddp_train`'s, so that the cell's first word is all that need be changed; and the mode's own."""
    made = arguments.parser(f"%%{name}", f"{ABOUT[name]}\n\nOptions for runs on processes have no effect here.\n")
    made.examples = EXAMPLES[name]
    if name == "single_train":
        made.add_argument(
            "--device",
            metavar="cuda:1",
            values=lambda: ("cpu", *(f"cuda:{number}" for number, _ in enumerate(visible(gpus(), os.environ)))),
            help="cuda:1, cpu or mps; default: the notebook's own device",
        )
    return made


def _refuse(name: str, found: argparse.Namespace) -> None:
    for option, sentence in OTHER.items():
        given = getattr(found, option)
        if given is not None and given is not False:
            raise Refusal(f"%%{name}: {sentence}.")
    if found.rest:
        raise Refusal(f"%%{name}: options after -- are parameters of a script: set them in the notebook's cells.")


def _mode(line: str) -> str:
    """Of `%%ddp_train`; what is misspelt is for the parser to say."""
    words = _words(line)
    for place, word in enumerate(words):
        if word.startswith("--mode="):
            return word.partition("=")[2]
        if word == "--mode" and place + 1 < len(words):
            return words[place + 1]
    return "ddp"


def _words(line: str) -> Sequence[str]:
    try:
        return shlex.split(line)
    except ValueError:
        return line.split()


def _device_count(line: str, environ: Mapping[str, str]) -> int:
    words = _words(line)
    asked = next((after for word, after in pairwise(words) if word == "--devices"), None)
    try:
        return len(device_numbers(asked)) if asked else len(visible(gpus(), environ))
    except argparse.ArgumentTypeError:
        return 0
