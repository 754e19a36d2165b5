"""Notebooks in IPython's own shell, each in a process of its own: `in_shell.py MODE RECORD NOTEBOOK [RECORD NOTEBOOK]`.

Every cell that trains gets the mode's magic as its first line; what is left is recorded as one_process.py records it.
The processes are forked from one that has imported torch already, so that a notebook costs a second.
"""

from __future__ import annotations

import importlib
import os
import random
import sys
import traceback
from pathlib import Path

import numpy as np
import torch

ROOT = Path(__file__).parents[2]
# What every child would import by itself, which takes longer than most notebooks train.
PRELOAD = (
    "torch._dynamo",
    "sklearn.datasets",
    "sklearn.metrics",
    "IPython.core.interactiveshell",
    "IPython.core.completer",
    "matplotlib.pyplot",
    "nbddp.analysis.plan",
    "nbddp.magics.commands.extension",
)
sys.path.insert(0, str(ROOT))


def train_all(path: Path, mode: str) -> dict[str, object]:
    from IPython.core.interactiveshell import InteractiveShell

    from nbddp.analysis.slicing.slice import build_flow
    from nbddp.analysis.syntax.program import build_program
    from nbddp.analysis.training.training_statements import training_statements
    from nbddp.notebook import read_notebook
    from nbddp.run.folder.errors import NotWarm
    from nbddp.run.start.warm import WarmHelper
    from nbddp.widget.surface import InText

    # Apart from what the cells print: its thread may write between a line of theirs and the line's end.
    InText._print = lambda _, lines: print(*lines, sep="\n", file=sys.stderr)  # type: ignore[method-assign]

    def refuse(*_: object) -> None:
        raise NotWarm("no processes are wanted here")

    WarmHelper.start = refuse  # type: ignore[method-assign, assignment]
    if mode == "dp":
        from nbddp.inkernel import parallel
        from nbddp.magics.runs import compiled
        from tests.inkernel import on_cpu

        parallel.Split = on_cpu.OnCpu  # type: ignore[misc]
        compiled._devices = lambda _asked: (("cpu", "cpu"), [])
    notebook = read_notebook(path)
    training = {s.cell.number for s in training_statements(build_flow(build_program(notebook)))}
    shell = InteractiveShell.instance(colors="NoColor")
    shell.run_cell("%load_ext nbddp", store_history=True).raise_error()
    for cell in notebook.cells:
        if cell.kind == "code":
            source = cell.source.removeprefix("%%ddp_train")
            trains = cell.number in training and cell.mark != "skip"
            marked = f"%%{mode}_train\n{source}" if trains else cell.source
            shell.run_cell(marked, store_history=True).raise_error()
    names: dict[str, object] = shell.user_ns
    return names


def child(path: Path, target: Path, mode: str) -> None:
    from tests.e2e.one_process import record

    target.mkdir()
    (target / "here").mkdir()
    os.chdir(target / "here")
    for number, name in ((1, "stdout.txt"), (2, "stderr.txt")):
        file = os.open(target / name, os.O_WRONLY | os.O_CREAT, 0o600)
        os.dup2(file, number)
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    random.seed(0)
    np.random.seed(0)
    torch.manual_seed(0)
    sys.argv = [str(path)]
    left = record(train_all(path, mode))
    sys.stdout.flush()
    torch.save(left, target / "record.pt")


def main() -> None:
    mode, *rest = sys.argv[1:]
    for name in PRELOAD:
        importlib.import_module(name)
    torch.set_num_threads(1)
    for target, path in zip(rest[::2], rest[1::2], strict=True):
        pid = os.fork()
        if pid == 0:
            status = 1
            try:
                child(Path(path).resolve(), Path(target).resolve(), mode)
                status = 0
            except BaseException:  # noqa: BLE001 -- nothing may leave a forked process but by its end
                traceback.print_exc()
            finally:
                sys.stderr.flush()
                os._exit(status)
        os.waitpid(pid, 0)


if __name__ == "__main__":
    main()
