"""One notebook by hand: `python -m tests.e2e NOTEBOOK [--nproc N] [--oracle] [--show]`."""

from __future__ import annotations

import argparse
from pathlib import Path

from .judge import differences
from .oracle import run_oracle
from .runner import run_notebook, script_of


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("notebook", type=Path)
    parser.add_argument("--nproc", type=int, default=2)
    parser.add_argument("--oracle", action="store_true", help="run the notebook in one process only")
    parser.add_argument("--show", action="store_true", help="print the exported script too")
    options = parser.parse_args()
    notebook = options.notebook.resolve()
    oracle = run_oracle(notebook)
    print(f"one process, {oracle.seconds:.1f} s:", *oracle.lines, sep="\n  ")
    if options.oracle:
        return 0
    if options.show:
        print(script_of(notebook).text)
    run = run_notebook(notebook, options.nproc)
    print(f"{options.nproc} processes, {run.seconds:.1f} s:", *run.lines, sep="\n  ")
    found = differences(notebook, oracle, run, options.nproc)
    print("agrees" if not found else "differs:", *found, sep="\n  ")
    return bool(found)


if __name__ == "__main__":
    raise SystemExit(main())
