"""Steps per second of an exported script against the same training written by hand, and written for other tools.

All train on 2 CPU processes, in turns, so that what else the machine does falls on all alike: the script by hand, the
exported one and the same under nbddp take turns epoch by epoch (`in_turns.py`). The first epoch of each run is not
counted: it warms up. "With the widget" is a run from a cell, in a kernel that shows it live; there, and with other
tools, whole runs take turns, and the figures vary more.

    python -m bench.throughput [RUNS [TURNS]]       runs of epochs in turn, and whole runs (0: none)
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
from bench.in_turns import rounds
from bench.notebooks import TRAINING, notebook
from nbddp.run.start.command import INSIDE
from nbddp.watch_points import to_json
from tests.magics.kernel import Kernel

RUNS = 5  # in which epochs take turns, eleven each
TURNS = 9
TURNS_OF_OTHERS = 3  # which are further away than the noise, and slower
ROOT = Path(__file__).parents[1]
BY_HAND = Path(__file__).with_name("by_hand.py")
OURS = ("by hand", "exported", "watched", "with the widget")
SETTINGS = {"CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1"}  # threads as torchrun sets them


def main(runs: int = RUNS, turns: int = TURNS) -> None:
    with TemporaryDirectory() as folder:
        _epochs_in_turn(Path(folder), runs)
    if turns:
        with TemporaryDirectory() as folder:
            _print_whole_runs(_take_turns(Path(folder), turns))


def _epochs_in_turn(folder: Path, runs: int) -> None:
    """Pairs of epochs, one right after the other: the median of their ratios."""
    script, reporting = _watched(folder)
    ways: dict[str, tuple[list[str], dict[str, str]]] = {
        "by hand": ([sys.executable, str(BY_HAND)], {}),
        "exported": ([sys.executable, str(script), "--nproc", "2"], {}),
        "watched": ([sys.executable, str(INSIDE), str(script), "--nproc", "2"], reporting),
    }
    environment = {**os.environ, **SETTINGS, "PYTHONPATH": str(ROOT)}
    pairs = [each for _ in range(runs) for each in rounds(ways, environment)]
    assert Path(reporting["NBDDP_EVENTS"]).stat().st_size > 0, "nothing was reported, so nothing was measured"
    print(
        f"{len(pairs)} epochs in turn   steps/s to by hand (middle half)   CPU time per step to by hand (middle half)"
    )
    for name in ways:
        speed = [each["by hand"].seconds / each[name].seconds for each in pairs]
        cpu = [each[name].cpu / each["by hand"].cpu for each in pairs]
        print(f"{name:20} {_middle(speed):>32} {_middle(cpu):>40}")
    print("limits: 1.00 for exported, 0.98 for watched\n")


def _middle(ratios: list[float]) -> str:
    low, median, high = statistics.quantiles(ratios, n=4)
    return f"{median:.3f} ({low:.3f} to {high:.3f})"


def _print_whole_runs(rates: Mapping[str, list[list[float]]]) -> None:
    print("steps per second     median of all epochs    to by hand, median over turns    of each run's median")
    for name, runs in rates.items():
        medians = [statistics.median(run) for run in runs]
        by_hand = [statistics.median(run) for run in rates["by hand"]]
        ratio = statistics.median(mine / its for mine, its in zip(medians, by_hand, strict=False))
        each = "  ".join(f"{median:.0f}" for median in medians)
        print(f"{name:20} {_median(runs):20.1f}    {ratio:29.3f}    {each}")
    print("limits: 1.00 for exported, 0.98 for watched, and with the widget\n")


def _watched(folder: Path) -> tuple[Path, dict[str, str]]:
    script, points = _exported(folder)
    reporting = {"NBDDP_EVENTS": str(folder / "events.jsonl"), "NBDDP_RESULT": str(folder / "result.pt")}
    return script, reporting | {"NBDDP_WATCH": str(points)}


def _take_turns(folder: Path, turns: int) -> dict[str, list[list[float]]]:
    script, reporting = _watched(folder)
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
    for turn in range(turns):
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
    main(*map(int, sys.argv[1:]))
