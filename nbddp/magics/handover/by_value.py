"""`--snapshot NAMES`: variables of the kernel, written as they are into a file that all ranks map into their memory."""

from __future__ import annotations

import contextlib
import operator
import pickle
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from nbddp.analysis import Plan
from nbddp.cli.parse import Refusal
from nbddp.run.folder.errors import LaunchFailed
from nbddp.run.folder.folder import RunFolder

AS_ARRAY = operator.methodcaller("numpy")  # of a tensor; the script needs nothing of ours to read it back


@dataclass(frozen=True)
class ByValue:
    """What is handed over, by name."""

    values: Mapping[str, Any] = field(default_factory=dict)

    def write(self, folder: RunFolder) -> None:
        """None where there is nothing; a Refusal that names the variable which cannot be written."""
        if not self.values:
            return
        try:
            _save(dict(self.values), folder.snapshot)
        except Exception as error:
            culprit = next(filter(None, (_complaint(name, thing) for name, thing in self.values.items())), "")
            if culprit:
                raise Refusal(culprit) from error
            raise LaunchFailed(f"The values of {', '.join(self.values)} could not be saved: {error}.") from error


def by_value(plan: Plan, namespace: Mapping[str, Any]) -> ByValue:
    """Those that the script takes over, as the kernel has them."""
    missing = [name for name in plan.handed_over if name not in namespace]
    if missing:
        raise Refusal(f"--snapshot: the kernel has no {', '.join(missing)}: run the cell that creates it.")
    return ByValue({name: namespace[name] for name in plan.handed_over})


def _save(values: Mapping[str, Any], path: Path) -> None:
    import torch

    class Pickler(pickle.Pickler):
        """Arrays, wherever they are in a value, travel as tensors: those alone are mapped instead of copied."""

        def reducer_override(self, thing: Any) -> Any:
            tensor = _as_tensor(thing, torch)
            return NotImplemented if tensor is None else (AS_ARRAY, (tensor,))

    module = SimpleNamespace(Pickler=Pickler, dumps=pickle.dumps, __name__="pickle")
    torch.save(values, path, pickle_module=module, pickle_protocol=4)


def _as_tensor(thing: Any, torch: Any) -> Any:
    """None where it is no plain array of numbers."""
    if type(thing).__module__ != "numpy" or type(thing).__name__ != "ndarray" or not thing.ndim:
        return None
    with contextlib.suppress(TypeError, ValueError):  # text, objects, dates: these are pickled
        return torch.from_numpy(thing if thing.flags.writeable else thing.copy())
    return None


def _complaint(name: str, thing: Any) -> str:
    """A sentence where this one is what cannot be pickled."""
    try:
        pickle.dumps(thing)
    except Exception as error:  # noqa: BLE001 -- pickling runs any class's code
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        return f"--snapshot: '{name}' cannot be saved ({reason}): name the values that it is built from instead."
    return ""
