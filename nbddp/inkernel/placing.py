"""On which device a cell trains, where it is asked for another than the notebook has chosen."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from nbddp.analysis import Plan
from nbddp.analysis.models import chosen
from nbddp.edits import Edit
from nbddp.inkernel.edits import prefixed
from nbddp.rules import device

Undo = Callable[[], object]


def device_names(plan: Plan, namespace: Mapping[str, Any]) -> list[str]:
    """Variables of other cells that say which device to use."""
    found: list[str] = []
    for statement in plan.kept:
        node = statement.node
        if isinstance(node, ast.Assign) and statement.cell.number != plan.training_cell and chosen(plan, node.value):
            found += [t.id for t in node.targets if isinstance(t, ast.Name) and t.id in namespace]
    return list(dict.fromkeys(found))


def device_edits(plan: Plan) -> list[Edit]:
    """In the training cell itself a device is chosen as in a script: it is the one asked for."""
    return [e for e in device.rewrite(replace(plan, naming=prefixed(plan))) if isinstance(e, Edit)]


def problem(name: str) -> str:
    """Why there is no such device here; "" where there is one."""
    import torch

    try:
        asked = torch.device(name)
    except RuntimeError:
        return f"{name!r} is not a device: choose, for example, cpu, mps, cuda or cuda:1."
    if asked.type == "cpu":
        return ""
    if asked.type == "mps":
        return "" if torch.backends.mps.is_available() else "There is no mps device here: leave out --device."
    if asked.type != "cuda":
        return f"{name!r} cannot be used for training here: choose, for example, cpu, mps, cuda or cuda:1."
    count = torch.cuda.device_count()
    if 0 <= (asked.index or 0) < count:  # torch keeps a byte of it
        return ""
    there = "this machine has no GPU that torch can use" if not count else f"there are GPUs 0 to {count - 1}"
    return f"There is no device {name}: {there if count != 1 else 'there is only GPU 0'}."


def place(name: str, variables: Iterable[str], namespace: dict[str, Any], objects: Iterable[Any]) -> Undo:
    """Models, optimizers and the notebook's device variables go there; what is returned brings them back."""
    import torch

    there = torch.device(name)
    before = torch.cuda.current_device() if there.type == "cuda" else None
    if before is not None:
        there = torch.device("cuda", there.index if there.index is not None else before)
        torch.cuda.set_device(there)
    values = {name: namespace[name] for name in variables}
    for variable, value in values.items():
        namespace[variable] = str(there) if isinstance(value, str) else there
    moved = list(objects)
    homes = [_home(thing) for thing in moved]
    for thing in moved:
        _move(thing, there)

    def undo() -> None:
        for thing, home in zip(moved, homes, strict=True):
            if home is not None:
                _move(thing, home)
        for variable, value in values.items():
            if str(namespace.get(variable)) == str(there):
                namespace[variable] = value
        if before is not None:
            torch.cuda.set_device(before)

    return undo


def _home(thing: Any) -> Any:
    """Where a model is; an optimizer's state is where its parameters are."""
    tensors = thing.parameters() if hasattr(thing, "parameters") else _parameters(thing)
    return next((t.device for t in tensors), None)


def _parameters(optimizer: Any) -> list[Any]:
    return [p for group in getattr(optimizer, "param_groups", ()) for p in group["params"]]


def _move(thing: Any, device: Any) -> None:
    import torch

    if hasattr(thing, "parameters"):
        thing.to(device)
    for state in getattr(thing, "state", {}).values() if not hasattr(thing, "parameters") else ():
        for key, value in state.items():
            if isinstance(value, torch.Tensor) and (key != "step" or value.dim()):
                state[key] = value.to(device)
