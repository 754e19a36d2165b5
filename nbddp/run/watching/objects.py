"""What a training cell has built, whole: the kernel that asked for it may have no such object yet.

A pickle, unlike a result: only the kernel that has started the run reads it, and its own cells have made what is in it.
What that kernel has itself is no part of it: it stands there by its name.
"""

from __future__ import annotations

import json
import marshal
import operator
import pickle
import sys
from collections.abc import Mapping, Set
from io import BytesIO
from pathlib import Path
from types import CellType, FunctionType, SimpleNamespace
from typing import Any, NoReturn

from nbddp.run.watching.plain_values import bare

MAIN = ("__main__", "__mp_main__")  # the cells, in a process that was started and in one that was spawned
LARGEST = 1 << 30  # bytes of what is no model's and no optimizer's
DEEPEST = 4  # attributes of attributes
BY_VALUE = (bool, int, float, complex, str, bytes, type(None), type, FunctionType)


def of_kernel(*path: str) -> NoReturn:
    """What a kernel has by this name, or an attribute of it; the kernel has its own way to find it."""
    raise NameError(".".join(path))


def function_of(*parts: Any) -> NoReturn:
    """A function that no name leads to, in the kernel: its code, its name, its defaults, what it closes over."""
    raise NameError(parts[1])


def cell_of(content: Any) -> CellType:
    """What a function closes over; no pickle knows the type by its name."""
    return CellType(content)


def names_of_kernel(path: Path) -> frozenset[str] | None:
    """None where no kernel waits for the result."""
    return frozenset(json.loads(path.read_text(encoding="utf-8"))) if path.exists() else None


def save_objects(things: Mapping[str, Any], scope: Mapping[str, Any], known: Set[str], path: Path) -> dict[str, str]:
    """Write those that can be written into one file, as they know each other; the others, with the reason.

    `known` are the names that the kernel has, too: what stands there by them stays what it is.
    """
    import torch

    paths: dict[int, tuple[str, ...]] = {}
    for name in sorted(known & scope.keys()):
        _go_through(scope[name], (name,), paths, only_states=name in things)
    pickler = _pickler(paths, known)
    left_out = {name: why for name, thing in things.items() if (why := _complaint(thing, pickler))}
    kept = {name: thing for name, thing in things.items() if name not in left_out}
    if kept:
        module = SimpleNamespace(Pickler=pickler, dumps=pickle.dumps, __name__="pickle")
        torch.save(kept, path, pickle_module=module, pickle_protocol=4)
    return left_out


def _go_through(thing: Any, path: tuple[str, ...], paths: dict[int, tuple[str, ...]], *, only_states: bool) -> None:
    """An optimizer that comes back trains the parameters that the kernel's model has, not copies of them."""
    from torch import nn

    thing = bare(thing)
    if isinstance(thing, BY_VALUE) or id(thing) in paths or len(path) > DEEPEST:
        return
    if hasattr(thing, "state_dict") or not only_states:
        paths[id(thing)] = path
    if isinstance(thing, nn.Module):
        for name, part in (*thing.named_modules(), *thing.named_parameters(), *thing.named_buffers()):
            paths.setdefault(id(part), (*path, *filter(None, name.split("."))))
    elif type(thing).__module__ in MAIN:
        for name, part in getattr(thing, "__dict__", {}).items():
            _go_through(part, (*path, name), paths, only_states=only_states)


def _complaint(thing: Any, pickler: Any) -> str:
    """Why it cannot be written: found out without copying any tensor."""
    import torch

    size = 0

    class Trial(pickler):  # type: ignore[misc]
        def reducer_override(self, inner: Any) -> Any:
            nonlocal size
            reduced = super().reducer_override(inner)
            size += getattr(inner, "nbytes", 0) if reduced is NotImplemented and not isinstance(inner, type) else 0
            return (float, ()) if reduced is NotImplemented and isinstance(inner, torch.Tensor) else reduced

    try:
        Trial(BytesIO(), protocol=4).dump(thing)
    except Exception as error:  # noqa: BLE001 -- pickling runs any class's code
        return str(error).splitlines()[0] if str(error) else type(error).__name__
    return "it is large" if size > LARGEST and not hasattr(thing, "state_dict") else ""


def _pickler(paths: Mapping[int, tuple[str, ...]], known: Set[str]) -> Any:
    from torch.nn.parallel import DataParallel, DistributedDataParallel
    from torch.utils.data import DataLoader, Sampler

    own = DataLoader | Sampler | getattr(sys.modules.get("torch.distributed.tensor"), "DTensor", DataLoader)

    class Pickler(pickle.Pickler):
        def reducer_override(self, thing: Any) -> Any:
            if id(thing) in paths:
                return of_kernel, paths[id(thing)]
            if isinstance(thing, DistributedDataParallel | DataParallel):
                return operator.itemgetter(0), ((thing.module,),)
            if isinstance(thing, own):
                raise TypeError("each process has its own")
            if isinstance(thing, type | FunctionType) and thing.__module__ in MAIN:
                return _definition(thing, known)
            return (cell_of, (thing.cell_contents,)) if isinstance(thing, CellType) else NotImplemented

    return Pickler


def _definition(thing: Any, known: Set[str]) -> Any:
    """By name where the kernel has it, too; a function else by its code."""
    if "<" not in thing.__qualname__ and thing.__qualname__.partition(".")[0] in known:
        return NotImplemented
    if isinstance(thing, type):
        raise TypeError(f"{thing.__qualname__} is a class that only the processes have")
    code = marshal.dumps(thing.__code__)
    return function_of, (code, thing.__name__, thing.__defaults__, thing.__closure__ or ())
