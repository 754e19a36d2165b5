"""Steps per second of an exported script, live reporting on, against the same training written by hand.

Both train on 2 CPU processes, in turns, so that what else the machine does falls on both alike. The first epoch of
each run is not counted: it warms up.
"""

from __future__ import annotations

import json
import os
import re
import statistics
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import nbddp
from bench.notebooks import notebook

TURNS = 5
BY_HAND = Path(__file__).with_name("by_hand.py")


def main() -> None:
    with TemporaryDirectory() as folder:
        rates = _take_turns(Path(folder))
    print("steps per second     median of all epochs    of each run's median")
    for name, runs in rates.items():
        medians = "  ".join(f"{statistics.median(run):.0f}" for run in runs)
        print(f"{name:20} {_median(runs):20.1f}    {medians}")
    ratios = [
        statistics.median(x) / statistics.median(h) for x, h in zip(rates["exported"], rates["by hand"], strict=True)
    ]
    print(f"ratio, median over turns: {statistics.median(ratios):.3f} (at least 0.98)")


def _take_turns(folder: Path) -> dict[str, list[list[float]]]:
    script = _exported(folder)
    reporting = {"NBDDP_EVENTS": str(folder / "events.jsonl"), "NBDDP_RESULT": str(folder / "result.pt")}
    rates: dict[str, list[list[float]]] = {"by hand": [], "exported": []}
    for _ in range(TURNS):
        rates["by hand"].append(_rates([str(BY_HAND)], {}))
        rates["exported"].append(_rates([str(script), "--nproc", "2", "--backend", "gloo"], reporting))
    assert Path(reporting["NBDDP_EVENTS"]).stat().st_size > 0, "nothing was reported, so nothing was measured"
    return rates


def _exported(folder: Path) -> Path:
    source = folder / "trained.ipynb"
    source.write_text(json.dumps(notebook(6)))
    script = folder / "trained_ddp.py"
    script.write_text(nbddp.export(source).text)
    return script


def _rates(words: list[str], settings: Mapping[str, str]) -> list[float]:
    """Of each epoch but the first, as the training prints them."""
    environment = {**os.environ, **settings, "CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1"}  # as torchrun sets it
    done = subprocess.run([sys.executable, *words], env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{words[0]} failed:\n{done.stderr}")
    return [float(rate) for rate in re.findall(r"([\d.]+) steps/s", done.stdout)][1:]


def _median(runs: list[list[float]]) -> float:
    return statistics.median(rate for run in runs for rate in run)


if __name__ == "__main__":
    main()
