"""How long an export takes, as in a kernel: nbddp imported once, then one notebook after another."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import nbddp
from bench.notebooks import notebook

SIZES = {20: 15, 100: 9, 500: 5}  # code cells: how often each is exported


def main() -> None:
    print(f"import nbddp      {_import_time() * 1000:7.0f} ms (limit 150)\n")
    print("export of                  median     worst")
    with TemporaryDirectory() as folder:
        for cells, times in SIZES.items():
            path = Path(folder) / f"of_{cells}.ipynb"
            path.write_text(json.dumps(notebook(cells)))
            taken = sorted(_seconds(lambda path=path: nbddp.export(path)) for _ in range(times))
            print(f"{cells:5} code cells       {statistics.median(taken):8.3f} s {taken[-1]:8.3f} s")
    print()


def _import_time() -> float:
    """Of a fresh interpreter, at best of five."""
    code = "import time; began = time.perf_counter(); import nbddp; print(time.perf_counter() - began)"
    command = [sys.executable, "-c", code]
    return min(float(subprocess.run(command, capture_output=True, text=True, check=True).stdout) for _ in range(5))


def _seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
