"""Whether the machine has room for what each process makes anew: the notebook's data, as large as the kernel has it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from nbddp.analysis import Plan
from nbddp.run.state.words import size

DEEP = 4  # objects within each other that are looked into
MANY = 1000  # items of a container that are looked at; the rest counts like these
MEMINFO = Path("/proc/meminfo")
GROUP = Path("/sys/fs/cgroup")


def too_little_memory(plan: Plan, namespace: Mapping[str, Any], processes: int, free: int | None = None) -> str:
    """A sentence where copies for all processes do not fit; what --snapshot hands over is shared by all."""
    names = {n for s in plan.kept for n in plan.flow.effects[s.index].binds} - set(plan.handed_over)
    here = bytes_of(namespace[name] for name in sorted(names & namespace.keys()))
    left = free_memory() if free is None else free
    if left is None or here * processes <= left:
        return ""
    return (
        f"The data of this training takes {size(here)} in the notebook, and each of {processes} processes makes a copy "
        f"of its own: {size(here * processes)}, where {size(left)} are free. With --snapshot NAMES all share one."
    )


def bytes_of(things: Iterable[Any]) -> int:
    """Of tensors and arrays in the machine's memory, each once, wherever in these things they are."""
    seen: dict[int, int] = {}
    return int(sum(_size(thing, seen, DEEP) for thing in things) + sum(seen.values()))


def _size(thing: Any, seen: dict[int, int], deep: int) -> float:
    """What has an address goes into `seen`; what has none is returned."""
    with contextlib.suppress(Exception):  # any class's code may run here, and a doubt is not worth an error
        if hasattr(thing, "untyped_storage"):
            if thing.device.type == "cpu":
                storage = thing.untyped_storage()
                seen[storage.data_ptr()] = storage.nbytes()
        elif hasattr(thing, "__array_interface__"):
            seen[thing.__array_interface__["data"][0]] = thing.nbytes
        elif hasattr(thing, "memory_usage"):  # a table of pandas
            usage = thing.memory_usage()
            return float(usage if isinstance(usage, int) else usage.sum())
        elif isinstance(thing, str | bytes):
            return len(thing)
        elif deep and -id(thing) not in seen:
            seen[-id(thing)] = 0  # it may hold itself
            return _inside(thing, seen, deep - 1)
    return 0.0


def _inside(thing: Any, seen: dict[int, int], deep: int) -> float:
    if isinstance(thing, list | tuple | dict | set):
        items = [*thing.values()] if isinstance(thing, dict) else [*thing]
        before = sum(seen.values())
        loose = sum(_size(item, seen, deep) for item in items[:MANY])
        more = max(1.0, len(items) / MANY)
        return loose * more + (sum(seen.values()) - before) * (more - 1)
    return sum(_size(item, seen, deep) for item in _fields(thing))


def _fields(thing: Any) -> Iterator[Any]:
    """A dataset's own attributes; a module, a function and a class of the notebook hold no data."""
    if not isinstance(thing, type) and not hasattr(thing, "__code__") and type(thing).__name__ != "module":
        yield from getattr(thing, "__dict__", {}).values()


def free_memory() -> int | None:
    """What the machine could still give, or the container that this is; None where neither tells."""
    found = [*_of_machine(), *_of_group()]
    return min(found, default=None)


def _of_machine() -> Iterator[int]:
    with contextlib.suppress(OSError, ValueError, IndexError):
        for line in MEMINFO.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                yield int(line.split()[1]) * 1024


def _of_group() -> Iterator[int]:
    with contextlib.suppress(OSError, ValueError):  # "max" is no number: there is no limit
        yield int((GROUP / "memory.max").read_text()) - int((GROUP / "memory.current").read_text())
