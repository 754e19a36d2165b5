"""Numbers that each rank has for its own part of the batches, as those of whole batches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from nbddp.run.watching.plain_values import plain

UNLIKE = object()  # there is no mean of these


def means_over_ranks(values: Mapping[str, Any]) -> dict[str, Any]:
    """Numbers, and lists, tuples and dictionaries of them, item by item; without those that the ranks have otherwise.

    All ranks have to ask for the same names.
    """
    from torch import distributed

    if not values:
        return {}
    found = [{name: one for name, value in values.items() if (one := _plain(value)) is not UNLIKE}]
    if distributed.is_initialized():
        found *= distributed.get_world_size()
        distributed.all_gather_object(found, found[0])
    means = {name: _mean([one.get(name, UNLIKE) for one in found]) for name in values}
    return {name: mean for name, mean in means.items() if mean is not UNLIKE}


def _plain(value: Any) -> Any:
    try:
        return plain(value)
    except (AttributeError, TypeError, ValueError, RecursionError):
        return UNLIKE


def _mean(parts: Sequence[Any]) -> Any:
    import torch

    first = parts[0]
    if any(type(part) is not type(first) for part in parts):
        return UNLIKE
    if isinstance(first, dict):
        alike = all(part.keys() == first.keys() for part in parts)
        return _each(dict, [(k, _mean([part[k] for part in parts])) for k in first]) if alike else UNLIKE
    if isinstance(first, list | tuple):
        alike = all(len(part) == len(first) for part in parts)
        return _each(type(first), [(None, _mean(items)) for items in zip(*parts, strict=True)]) if alike else UNLIKE
    if isinstance(first, torch.Tensor):
        return _mean_of_tensors(parts)
    if isinstance(first, float):
        return sum(parts) / len(parts)
    return first if all(part == first for part in parts) else UNLIKE


def _each(kind: type, items: list[tuple[Any, Any]]) -> Any:
    if any(item is UNLIKE for _, item in items):
        return UNLIKE
    return dict(items) if kind is dict else kind(item for _, item in items)


def _mean_of_tensors(parts: Sequence[Any]) -> Any:
    import torch

    if any(part.shape != parts[0].shape for part in parts):
        return UNLIKE
    if parts[0].is_floating_point():
        return torch.stack(list(parts)).mean(0)
    return parts[0] if all(torch.equal(part, parts[0]) for part in parts) else UNLIKE
