"""Steps per second of a script whose batches, slices of tensors, are split among 2 processes, against one that slices
by hand; in turns, so that what else the machine does falls on both alike."""

from __future__ import annotations

import json
import statistics
from pathlib import Path
from tempfile import TemporaryDirectory

import nbddp
from bench.notebooks import SLICED, notebook_of
from bench.throughput import TURNS, rates_of

BY_HAND = Path(__file__).with_name("sliced_by_hand.py")


def main() -> None:
    with TemporaryDirectory() as folder:
        source, script = Path(folder, "sliced.ipynb"), Path(folder, "sliced_ddp.py")
        source.write_text(json.dumps(notebook_of([*SLICED])))
        script.write_text(nbddp.export(source).text)
        pairs = [(_median(str(BY_HAND)), _median(str(script), "--nproc", "2")) for _ in range(TURNS)]
    print("steps per second, batches sliced out of tensors: by hand, exported")
    print(*(f"  {by_hand:.0f} {exported:.0f}" for by_hand, exported in pairs), sep="\n")
    ratio = statistics.median(exported / by_hand for by_hand, exported in pairs)
    print(f"exported to by hand, median over turns: {ratio:.3f}; limit: 0.95\n")


def _median(*words: str) -> float:
    return statistics.median(rates_of([*words], {}))


if __name__ == "__main__":
    main()
