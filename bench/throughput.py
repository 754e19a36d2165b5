"""Steps per second of an exported script against the same training written by hand, and written for other tools.

All train on 2 CPU processes, in turns, so that what else the machine does falls on all alike. The first epoch of each
run is not counted: it warms up. "With the widget" is a run from a cell, in a kernel that shows it live.
"""

from __future__ import annotations

import json
import os
import re
import statistics
import subprocess
import sys
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

import nbddp
from bench.notebooks import TRAINING, notebook
from nbddp.run.start.command import INSIDE
from nbddp.watch_points import to_json
from tests.magics.kernel import Kernel

TURNS = 9
TURNS_OF_OTHERS = 3  # which are further away than the noise, and slower
ROOT = Path(__file__).parents[1]
BY_HAND = Path(__file__).with_name("by_hand.py")
OURS = ("by hand", "exported", "watched", "with the widget")
SETTINGS = {"CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1"}  # threads as torchrun sets them


def main() -> None:
    with TemporaryDirectory() as folder:
        rates = _take_turns(Path(folder))
    print("steps per second     median of all epochs    to by hand, median over turns    of each run's median")
    for name, runs in rates.items():
        medians = [statistics.median(run) for run in runs]
        by_hand = [statistics.median(run) for run in rates["by hand"]]
        ratio = statistics.median(mine / its for mine, its in zip(medians, by_hand, strict=False))
        each = "  ".join(f"{median:.0f}" for median in medians)
        print(f"{name:20} {_median(runs):20.1f}    {ratio:29.3f}    {each}")
    print("limits: 1.00 for exported, 0.98 for watched, and with the widget\n")


def _take_turns(folder: Path) -> dict[str, list[list[float]]]:
    script, points = _exported(folder)
    reporting = {"NBDDP_EVENTS": str(folder / "events.jsonl"), "NBDDP_RESULT": str(folder / "result.pt")}
    reporting["NBDDP_WATCH"] = str(points)
    ways: dict[str, Callable[[], list[float]]] = {
        "by hand": lambda: rates_of([str(BY_HAND)], {}),
        "exported": lambda: rates_of([str(script), "--nproc", "2"], {}),
        "watched": lambda: rates_of([str(INSIDE), str(script), "--nproc", "2"], reporting),
        "with the widget": lambda: _in_kernel(folder),
    }
    for tool in ("accelerate", "lightning"):
        if find_spec(tool):
            ways[tool] = lambda tool=tool: rates_of(["-m", f"bench.by_{tool}"], {})  # type: ignore[misc]
    rates: dict[str, list[list[float]]] = {name: [] for name in ways}
    for turn in range(TURNS):
        for name, measure in ways.items():
            if turn < TURNS_OF_OTHERS or name in OURS:
                rates[name].append(measure())
    assert Path(reporting["NBDDP_EVENTS"]).stat().st_size > 0, "nothing was reported, so nothing was measured"
    return rates


def _exported(folder: Path) -> tuple[Path, Path]:
    """The script, and what nbddp watches when it runs it."""
    source = folder / "trained.ipynb"
    source.write_text(json.dumps(notebook(len(TRAINING))))
    script, points = folder / "trained_ddp.py", folder / "watch.json"
    exported = nbddp.export(source)
    script.write_text(exported.text)
    points.write_text(to_json(exported.watch))
    return script, points


def rates_of(words: list[str], settings: Mapping[str, str]) -> list[float]:
    """Of each epoch but the first, as the training prints them."""
    environment = {**os.environ, **settings, **SETTINGS, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, *words], env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{words[0]} failed:\n{done.stderr}")
    return _printed(done.stdout)


def _in_kernel(folder: Path) -> list[float]:
    """The cell waits, and its widget is fed; no page is there to draw it."""
    kernel = Kernel(folder, **SETTINGS)
    try:
        for cell in ("%load_ext nbddp", *TRAINING[:-1], TRAINING[-1].replace("ddp_train", "ddp_train --nproc 2")):
            reply = kernel.run(cell, timeout=300)
            if reply.status != "ok":
                raise SystemExit(f"{cell}\n{reply.error}")
        return _printed(kernel.value("run.log()"))
    finally:
        kernel.end()


def _printed(text: str) -> list[float]:
    return [float(rate) for rate in re.findall(r"([\d.]+) steps/s", text)][1:]


def _median(runs: list[list[float]]) -> float:
    return statistics.median(rate for run in runs for rate in run)


if __name__ == "__main__":
    main()
