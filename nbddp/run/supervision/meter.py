"""Looks at the GPUs of a run now and then, and reports how full and how busy they are, where nvidia-ml-py is installed.

A process of its own, for a driver that hangs must hold up nobody. It is run by its path with the script's environment,
imports nothing of nbddp, and says nothing where it cannot look.
"""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any

EVERY = 2.0  # seconds


def main(path: str, gpus: dict[str, dict[str, str]]) -> None:
    """Until the process that started it is gone, or ends it."""
    parent = os.getppid()
    import pynvml  # type: ignore[import-not-found, import-untyped, unused-ignore]

    pynvml.nvmlInit()
    handles = {rank: _handle(pynvml, gpu) for rank, gpu in gpus.items()}
    while os.getppid() == parent:
        found = {rank: _look(pynvml, handle) for rank, handle in handles.items()}
        append(path, {"event": "gpus", "time": time.time(), "rank": None, "gpus": found})
        time.sleep(EVERY)


def _handle(nvml: Any, gpu: dict[str, str]) -> Any:
    """By its own name, since CUDA and the driver may count in different orders; by what the run sees, failing that."""
    if uuid := gpu.get("uuid", ""):
        return nvml.nvmlDeviceGetHandleByUUID(uuid if uuid.startswith(("GPU-", "MIG-")) else f"GPU-{uuid}")
    index = int(gpu["device"].partition(":")[2] or 0)
    seen = [word.strip() for word in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",") if word.strip()]
    name = seen[index] if index < len(seen) else str(index)
    return nvml.nvmlDeviceGetHandleByIndex(int(name)) if name.isdigit() else nvml.nvmlDeviceGetHandleByUUID(name)


def _look(nvml: Any, handle: Any) -> dict[str, int | None]:
    """Some devices do not tell all of it: slices of one (MIG) have no utilisation."""
    found: dict[str, int | None] = {"used": None, "total": None, "busy": None}
    try:
        memory = nvml.nvmlDeviceGetMemoryInfo(handle)
        found |= {"used": int(memory.used), "total": int(memory.total)}
        found["busy"] = int(nvml.nvmlDeviceGetUtilizationRates(handle).gpu)
    except nvml.NVMLError:
        pass
    return found


def append(path: str, event: dict[str, Any]) -> None:
    """One line, one write."""
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(file, (json.dumps(event) + "\n").encode())
    finally:
        os.close(file)


if __name__ == "__main__":
    del sys.path[0]  # the folder of this file, whose modules are none of the script's
    try:
        main(sys.argv[1], json.loads(sys.argv[2]))
    except Exception:  # noqa: BLE001 -- no such package, no driver, no such device, a full disk: nothing is lost by it
        sys.exit(1)
