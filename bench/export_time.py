"""How long an export takes, as in a kernel: nbddp imported once, then one notebook after another."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import nbddp
from bench.notebooks import notebook, notebook_of
from bench.shapes import SHAPES
from nbddp.notebook import notebook_from_json

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
    _growth()


def _growth() -> None:
    """CPU time, which other processes leave alone, where the size doubles: twice as much each time, at most."""
    print("export of                                          size, CPU seconds (limit 1)")
    for shape, (cells, sizes) in SHAPES.items():
        taken = ((size, _cpu_seconds(notebook_of(cells(size)))) for size in sizes)
        print(f"{shape:45}", *(f"{size:6} {seconds:7.3f}" for size, seconds in taken))
    print()


def _cpu_seconds(content: dict[str, Any]) -> float:
    """At best of three; a refusal takes its time as well."""
    found = notebook_from_json(content, "shape.ipynb")
    taken = []
    for _ in range(3):
        began = time.process_time()
        with suppress(nbddp.CannotExport):
            nbddp.export(found)
        taken.append(time.process_time() - began)
    return min(taken)


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
