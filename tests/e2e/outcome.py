"""What a training left: final weights, files, values and lines of output, in one form for oracle and script."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import numpy as np
import torch
from torch import Tensor

NUMBER = re.compile(r"(?<![\w.])-?(?:\d+\.?\d*(?:e[-+]?\d+)?|nan|inf)\b")
Tensors = dict[str, Tensor]


@dataclass(frozen=True)
class Outcome:
    """States, files and values map a name to flat tensors; `lines` is the standard output, `log` the error output."""

    states: dict[str, Tensors]
    files: dict[str, Tensors]
    values: dict[str, Tensors]
    lines: tuple[str, ...]
    log: str
    seconds: float
    ranks: int = 1


class RunFailed(RuntimeError):
    """A process that ended with an error, ran past its limit or left others behind; the text shows its output."""


def flat(value: Any) -> Tensors:
    """Every tensor and number in nested containers, by its path."""
    return dict(_leaves(value, ""))


def _leaves(value: Any, path: str) -> Iterator[tuple[str, Tensor]]:
    if isinstance(value, Tensor):
        yield path, value.detach().cpu().clone()
    elif isinstance(value, dict) and set(value) == {"__ndarray__"}:  # an array, as a script's result holds it
        yield from _leaves(value["__ndarray__"], path)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _leaves(item, f"{path}.{key}" if path else str(key))
    elif isinstance(value, (list, tuple)):
        for number, item in enumerate(value):
            yield from _leaves(item, f"{path}[{number}]")
    elif isinstance(value, (bool, int, float)):
        yield path, torch.tensor(float(value), dtype=torch.float64)
    elif isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "biuf":
        yield path, torch.tensor(value)


def read_files(folder: Path) -> dict[str, Tensors]:
    """Files of tensors by their content, files of text by the numbers in them."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.suffix in (".pt", ".pth", ".ckpt"):
            found[str(path.relative_to(folder))] = _read_tensors(path)
        elif path.suffix in (".csv", ".json", ".txt", ".log"):
            numbers = [float(number) for number in NUMBER.findall(path.read_text(encoding="utf-8"))]
            found[str(path.relative_to(folder))] = {"numbers": torch.tensor(numbers, dtype=torch.float64)}
    return found


def _read_tensors(path: Path) -> Tensors:
    try:
        return flat(torch.load(path, map_location="cpu", weights_only=True))
    except UnpicklingError:  # a whole model, pickled with its class: that the file is there must do
        return {}
