"""Values as files can hold them that run no code when they are read: checkpoints, results, the state to start from."""

from __future__ import annotations

import collections
import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def plain(value: Any) -> Any:
    """The value as such a file can hold it; a TypeError where none can."""
    import torch

    if isinstance(value, torch.Tensor):
        return value.detach().cpu().clone()
    if isinstance(value, dict):
        saved = copy.copy(value) if type(value) in (collections.OrderedDict, collections.Counter) else {}
        for key, item in value.items():
            saved[plain(key)] = plain(item)
        return saved
    if isinstance(value, list | tuple):
        return (list if isinstance(value, list) else tuple)(plain(item) for item in value)
    if hasattr(value, "dtype"):  # an array or a number of NumPy
        return {"__ndarray__": torch.from_numpy(value.copy())} if value.shape else plain(value.item())
    if value is None or type(value) in (bool, int, float, str):
        return value
    raise TypeError(f"a {type(value).__name__} cannot be saved as plain data")


def comes_back(value: Any) -> bool:
    """Does not_plain() give what plain() was given: of its own kind, on its device?"""
    import torch

    if isinstance(value, torch.Tensor):
        own = value.requires_grad and value.is_leaf
        return type(value) is torch.Tensor and value.device.type == "cpu" and not own
    if type(value) in (dict, collections.OrderedDict, collections.Counter):
        return all(map(comes_back, (*value.keys(), *value.values())))
    if type(value) in (list, tuple):
        return all(map(comes_back, value))
    return bool(getattr(value, "shape", False)) or value is None or type(value) in (bool, int, float, str)


def not_plain(value: Any, device: str = "cpu") -> Any:
    """The value that plain() was given, with its tensors on this device."""
    import torch

    if isinstance(value, dict):
        if value.keys() == {"__ndarray__"}:
            return value["__ndarray__"].numpy()
        value.update((key, not_plain(item, device)) for key, item in list(value.items()))
    elif isinstance(value, list | tuple):
        return type(value)(not_plain(item, device) for item in value)
    return value.to(device) if isinstance(value, torch.Tensor) else value


def tensors_in(value: Any) -> Iterator[Any]:
    """Those that plain() would save, where they are."""
    import torch

    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, dict | list | tuple):
        for item in value.values() if isinstance(value, dict) else value:
            yield from tensors_in(item)


def bare(thing: Any) -> Any:
    """The model that DDP wraps, whose state has the notebook's names; anything else as it is."""
    import torch

    while isinstance(thing, torch.nn.parallel.DistributedDataParallel | torch.nn.DataParallel):
        thing = thing.module
    return thing


def save_whole(content: Any, path: str | Path) -> None:
    """Writes beside and renames, so that nobody ever reads half a file."""
    import torch

    beside = Path(f"{path}.part")
    torch.save(content, beside)
    beside.replace(path)
