"""How many samples a batch has, whatever it is made of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

DEEP = 4  # containers within each other that are looked into


def samples_in(things: Iterable[Any], deep: int = DEEP) -> int | None:
    """By the first tensor, array or graph among them; None where there is none. It is only looked at, never awaited."""
    for thing in things:
        try:
            found = _count(thing, deep)
        except Exception:  # noqa: BLE001 -- a batch may be of any class, and counting must not end a training
            continue
        if found is not None:
            return found
    return None


def _count(thing: Any, deep: int) -> int | None:
    if isinstance(graphs := getattr(thing, "num_graphs", None), int):
        return graphs
    shape = getattr(thing, "shape", None)
    if shape is not None:
        return int(shape[0]) if len(shape) else None
    if deep and isinstance(thing, Mapping | list | tuple):
        return samples_in(thing.values() if isinstance(thing, Mapping) else thing, deep - 1)
    return None
