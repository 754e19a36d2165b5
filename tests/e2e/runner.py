"""The exported script of a notebook, run on n processes and read back in the oracle's form."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import torch

from nbddp.export import Script, export
from nbddp.notebook import read_notebook
from nbddp.run.start.command import INSIDE
from nbddp.watch_points import WatchPoint, to_json

from .forked import Order, run_forked
from .neighbours import lay_out
from .outcome import Outcome, RunFailed, flat, read_files
from .process import run_alone

LIMIT = 240.0


@cache
def script_of(notebook: Path) -> Script:
    """`nbddp.CannotExport` where the notebook is refused."""
    beside = notebook.with_suffix("")
    return export(replace(read_notebook(notebook), folder=beside if beside.is_dir() else None))


def run_notebook(notebook: Path, nproc: int, *, forked: bool = False) -> Outcome:
    script, name = script_of(notebook), f"{notebook.stem}_ddp.py"
    return run_script(script.text, name, nproc, watch=script.watch, forked=forked, notebook=notebook)


def run_script(
    text: str,
    name: str,
    nproc: int,
    seconds: float = LIMIT,
    *,
    forked: bool = False,
    options: Sequence[str] = (),
    notebook: Path | None = None,
    watch: Sequence[WatchPoint] = (),
    variables: Mapping[str, str] | None = None,
) -> Outcome:
    """Run it from a folder that holds only what lies beside the notebook; the script is there too where that is
    anything. With watch points it runs as nbddp runs it, and brings its results; else as a user starts it.

    Forked, it starts faster, and as torchrun would start it.
    """
    with tempfile.TemporaryDirectory() as temporary:
        folder, logs = Path(temporary, "here"), Path(temporary, "logs")
        lies_beside = lay_out(notebook, folder)
        logs.mkdir()
        script, result, events = (folder if lies_beside else logs) / name, logs / "result.pt", logs / "events.jsonl"
        script.write_text(text, encoding="utf-8")
        wanted = {"NBDDP_RESULT": str(result), "NBDDP_EVENTS": str(events), **(variables or {})}
        if watch:
            wanted["NBDDP_WATCH"] = str(logs / "watch.json")
            Path(wanted["NBDDP_WATCH"]).write_text(to_json(watch), encoding="utf-8")
        if forked:
            order = Order(str(script), tuple(options), str(folder), str(logs), wanted, nproc)
            printed, log, took = run_forked(order, seconds)
        else:
            command = [sys.executable, *([str(INSIDE)] if watch else []), str(script), "--nproc", str(nproc), *options]
            printed, log, took = run_alone(command, folder, logs, seconds, **wanted)
        brings = "NBDDP_RESULT" in text or any(point.watch.kind == "result" for point in watch)
        states, values = _result(result) if brings else ({}, {})
        lines = tuple(printed.splitlines())
        return Outcome(states, read_files(folder), values, lines, log, took, _ranks_that_ended(events))


def _result(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    if not path.exists():
        raise RunFailed("the script wrote no result where NBDDP_RESULT says")
    saved = torch.load(path, map_location="cpu", weights_only=True)
    values = {name: flat(value) for name, value in saved["values"].items()}
    return {name: flat(state) for name, state in saved["states"].items()}, values


def _ranks_that_ended(path: Path) -> int:
    """How many ranks say that their training returned; a script without reporting counts as none."""
    if not path.exists():
        return 0
    events = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return len({event["rank"] for event in events if event["event"] == "end"})
