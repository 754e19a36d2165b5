"""What a run ran on: versions and devices, found without importing torch."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

DRIVER = Path("/proc/driver/nvidia/gpus")


@lru_cache(maxsize=1)
def torch_version() -> str | None:
    """The version of torch that is installed, or None."""
    try:
        return version("torch")
    except PackageNotFoundError:
        return None


def gpus(driver: Path = DRIVER) -> tuple[str, ...]:
    """The names of this machine's NVIDIA GPUs, as their driver lists them."""
    try:
        files = sorted(driver.glob("*/information"))
        texts = [file.read_text(errors="replace") for file in files]
    except OSError:
        return ()
    return tuple(_model(text) for text in texts)


def _model(text: str) -> str:
    return next((line.split(":", 1)[1].strip() for line in text.splitlines() if line.startswith("Model:")), "GPU")


def visible(names: tuple[str, ...], environ: Mapping[str, str]) -> tuple[str, ...]:
    """Those that CUDA_VISIBLE_DEVICES leaves. A name that is no number (a UUID, a MIG slice) counts as one of them."""
    asked = environ.get("CUDA_VISIBLE_DEVICES")
    if asked is None:
        return names
    kept: list[str] = []
    for word in filter(None, (part.strip() for part in asked.split(","))):
        if word.lstrip("-").isdigit() and not 0 <= int(word) < len(names):
            break  # CUDA ignores this one and all after it
        kept.append(names[int(word)] if word.isdigit() else word)
    return tuple(kept)


def facts(python: str, environ: Mapping[str, str]) -> dict[str, object]:
    """Worth keeping beside a run's results."""
    return {
        "python": platform.python_version(),
        "executable": python,
        "torch": torch_version(),
        "platform": platform.platform(),
        "host": platform.node(),
        "cpus": os.cpu_count(),
        "gpus": list(visible(gpus(), environ)),
    }
