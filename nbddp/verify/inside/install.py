"""The probe's way into a process: one call, before anything is trained."""

from __future__ import annotations

import json
import os
import random
import sys
import threading
import time
from pathlib import Path
from types import FunctionType
from typing import Any

import torch

from nbddp.run.processes.process import alive, from_json
from nbddp.verify.inside import batches, files, layers, noise, seeds
from nbddp.verify.inside.record import Recorder

MISSES = 4  # looks in a row that find the asker gone: one may fail on a busy system


def install(text: str, names: dict[str, Any]) -> None:
    """Watch this process's training as the specification says. A process that does not train sees nothing of it.

    `names` are the script's own: functions of torch that it has imported already are among them.
    """
    spec: dict[str, Any] = json.loads(text)
    threading.Thread(target=_end_with, args=(spec["asker"],), daemon=True).start()
    folder = Path(os.environ["NBDDP_EVENTS"]).parent
    recorder = Recorder(folder, spec["steps"], share=1 if spec["alone"] else spec["processes"])
    without = frozenset(spec["without"])
    torch.set_num_threads(spec["threads"])
    recorder.listen(average="gradients" in without)
    batches.watch(recorder, without, cut=spec["cut"], replay=spec["batches"], whole=spec["whole"])
    replaced = layers.watch(recorder, without)
    names.update({name: replaced[thing] for name, thing in names.items() if _is_function(thing) and thing in replaced})
    files.protect(folder / "files", recorder)
    if "draws" in without:
        noise.deal(recorder)
    if "unseeded" in without:
        seeds.fix()
    if "kernels" in without:
        torch.use_deterministic_algorithms(True, warn_only=True)
    if spec["alone"]:
        if not spec["whole"]:
            batches.take_order(recorder, spec["order"])
        _seed(spec["seed"])


def _is_function(thing: object) -> bool:
    return type(thing) is FunctionType


def _seed(seed: int) -> None:
    """As the script does it before anything else."""
    random.seed(seed)
    torch.manual_seed(seed)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(seed % 2**32)


def _end_with(asker: dict[str, object]) -> None:
    """Nobody may be left to end this process when the one that asked for it has been killed."""
    process, missed = from_json(asker), 0
    while missed < MISSES:
        time.sleep(0.5)
        missed = 0 if alive(process) else missed + 1
    os._exit(1)
