"""A process that has imported torch and forks the runs: `warm.py`, orders as lines of JSON on its input.

To import torch takes longer than most notebooks train here. A run begins as if its Python had just started: in its
folder, with its environment, in a session of its own, its output in files.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import runpy
import sys
import traceback
from typing import Any

OFTEN_USED = (
    "numpy", "torch", "torch.distributed", "torch.multiprocessing", "torchvision", "pandas", "matplotlib.pyplot",
    "sklearn.datasets", "sklearn.metrics", "tqdm.auto", "IPython.core.inputtransformer2",
)  # fmt: skip


def main() -> None:
    for name in OFTEN_USED:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            os._exit(_run(json.loads(line)))
        print(pid, flush=True)
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)


def _run(order: dict[str, Any]) -> int:
    os.setsid()
    for number, path in ((0, os.devnull), (1, order["stdout"]), (2, order["stderr"])):
        os.dup2(os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600), number)
    sys.stdin = sys.__stdin__ = os.fdopen(0)
    sys.stdout = sys.__stdout__ = os.fdopen(1, "w", buffering=1)
    sys.stderr = sys.__stderr__ = os.fdopen(2, "w", buffering=1)
    os.environ.clear()
    os.environ.update(order["environment"])
    os.chdir(order["folder"])
    if os.environ.get("CORPUS_DOUBLE") == "1":
        sys.modules["torch"].set_default_dtype(sys.modules["torch"].float64)
    sys.argv = order["command"]
    sys.path[0] = os.path.dirname(os.path.abspath(sys.argv[0]))  # noqa: PTH100, PTH120
    sys.path.append(order["folder"])
    try:
        runpy.run_path(sys.argv[0], run_name="__main__")
    except SystemExit as end:
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:  # noqa: BLE001 - whatever it is, the run has failed
        traceback.print_exc()
        return 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
    return 0


if __name__ == "__main__":
    main()
