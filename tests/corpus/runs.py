"""The runs of one notebook: in one plain process, and as its script on some."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from nbddp.export import Script
from nbddp.run.start.command import INSIDE
from nbddp.watch_points import to_json

from .forks import run

HERE = Path(__file__).parent
QUIET_FOR = 40.0  # seconds without a step after which a run that is cut off counts as a hang


@dataclass(frozen=True)
class Setting:
    """What all runs of a folder have in common."""

    path: tuple[str, ...] = ()  # folders for PYTHONPATH
    variables: tuple[tuple[str, str], ...] = ()
    beside: tuple[Path, ...] = ()  # folders whose content lies beside each notebook
    steps: int = 16
    seconds: float = 90.0
    as_it_is: bool = False
    double: bool = False  # numbers of 64 bits


@dataclass(frozen=True)
class Run:
    ended: str  # "done" | "cut" | "raised" | "hangs" | "slow"
    seconds: float
    events: dict[int, list[dict[str, Any]]] = field(repr=False)  # by rank
    lines: tuple[str, ...] = field(default=(), repr=False)
    error: str = field(default="", repr=False)
    left: dict[str, Any] = field(default_factory=dict, repr=False)
    others: tuple[dict[str, Any], ...] = field(default=(), repr=False)  # what the ranks after the first have left

    def of(self, event: str, rank: int = 0) -> list[dict[str, Any]]:
        return [e for e in self.events.get(rank, []) if e["event"] == event]

    @property
    def losses(self) -> list[float]:
        """Of each step the mean over the ranks, as far as all of them came."""
        ranks = [[e["loss"] for e in self.of("backward", rank)] for rank in sorted(self.events)]
        return [sum(step) / len(step) for step in zip(*ranks, strict=False)]

    @property
    def sizes(self) -> dict[int, float]:
        return {e["number"]: e["size"] for e in self.of("step")}


def run_plain(notebook: dict[str, Any], source: Path, wanted: Sequence[Any] | None, setting: Setting) -> Run:
    with _folder(source, setting) as (here, logs):
        (logs / "notebook.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
        (logs / "wanted.json").write_text(json.dumps(wanted), encoding="utf-8")
        result = logs / "left.pt"
        files = [str(logs / "notebook.ipynb"), str(logs / "wanted.json"), str(result)]
        return _run([str(HERE / "plain_run.py"), *files], here, logs, result, setting, {})


def run_script(script: Script, nproc: int, source: Path, setting: Setting) -> Run:
    with _folder(source, setting) as (here, logs):
        (here / "exported_ddp.py").write_text(script.text, encoding="utf-8")
        (logs / "watch.json").write_text(to_json(script.watch), encoding="utf-8")
        result = logs / "left.pt"
        command = [str(INSIDE), "exported_ddp.py", "--nproc", str(nproc)]
        variables = {"NBDDP_RESULT": str(result), "NBDDP_WATCH": str(logs / "watch.json")}
        found = _run(command, here, logs, result, setting, variables)
        return found if len(found.events) == nproc or found.ended == "raised" else _lost(found)


def _lost(run: Run) -> Run:
    return (
        run if run.ended in ("hangs", "slow") else Run("raised", run.seconds, run.events, error="no step on some ranks")
    )


@contextmanager
def _folder(source: Path, setting: Setting) -> Iterator[tuple[Path, Path]]:
    """A fresh copy of what lies beside the notebook: `name/` for `name.ipynb`, and what all of them share."""
    with tempfile.TemporaryDirectory() as temporary:
        here, logs = Path(temporary, "here"), Path(temporary, "logs")
        logs.mkdir()
        here.mkdir()
        for folder in (source.with_suffix(""), *setting.beside):
            if folder.is_dir():
                shutil.copytree(folder, here, dirs_exist_ok=True, copy_function=_unless_there)
        yield here, logs


def _unless_there(source: str, target: str) -> str:
    return target if Path(target).exists() else shutil.copy2(source, target)


def _run(command: list[str], here: Path, logs: Path, result: Path, setting: Setting, more: dict[str, str]) -> Run:
    path = os.pathsep.join([str(HERE / "probe"), *setting.path])
    shared = {"PYTHONPATH": path, "TQDM_DISABLE": "1", "PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "0"}
    shared |= {"CORPUS_AS_IT_IS": "1"} if setting.as_it_is else {}
    variables = (*shared.items(), *setting.variables)
    own = {"CORPUS_RECORD": str(logs), "CORPUS_STEPS": str(setting.steps), **more}
    own |= {"CORPUS_DOUBLE": "1"} if setting.double else {}
    began = time.time()
    printed, error = run(command, here, logs, setting.seconds, variables, own)
    ended = time.time()
    events = _events(logs)
    left = torch.load(result, weights_only=False) if result.exists() and not error else {}
    others = tuple(torch.load(path, weights_only=False) for path in sorted(logs.glob(f"{result.name}.?")))
    return Run(ending(events, error, ended), ended - began, events, tuple(printed.splitlines()), error, left, others)


def _events(logs: Path) -> dict[int, list[dict[str, Any]]]:
    found = {}
    for path in logs.glob("rank*.jsonl"):
        found[int(path.stem[4:])] = [json.loads(line) for line in path.read_text().splitlines() if line.endswith("}")]
    return found


def ending(events: dict[int, list[dict[str, Any]]], error: str, now: float) -> str:
    cut = [any(e["event"] == "cut" for e in of_rank) for of_rank in events.values()]
    if "still running after" in error.split("\n", 2)[1:2][0] if error else False:
        times = sorted(e["time"] for of_rank in events.values() for e in of_rank)
        usual = max((b - a for a, b in itertools.pairwise(times)), default=0.0)
        quiet = now - times[-1] if times else 0.0
        return "hangs" if (cut and all(cut)) or quiet > max(QUIET_FOR, 3 * usual) else "slow"
    if error:
        return "raised"
    return "cut" if cut and all(cut) else "done"
