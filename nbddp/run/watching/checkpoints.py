"""Checkpoint files, which are also the form in which a kernel hands over the state that it has come to."""

from __future__ import annotations

import collections
import sys
from collections.abc import Mapping
from typing import Any

from nbddp.run.watching.plain_values import not_plain, plain, save_whole, tensors_in
from nbddp.run.watching.random_numbers import random_state
from nbddp.run.watching.sharded import state_of, take_part

FORMAT = 1


def read_checkpoint(path: str | None) -> dict[str, Any]:
    """On the processor, and running no code; without a path an empty one."""
    if path is None:
        return {"states": {}}
    import torch

    saved = torch.load(path, map_location="cpu", weights_only=True)
    if not (isinstance(saved, dict) and "states" in saved):
        raise SystemExit(
            f"{path} is not a checkpoint of a training: name a file that a run has written as its checkpoint"
        )
    return saved


def carried_in(saved: Mapping[str, Any], loop: int) -> dict[str, Any]:
    """The values that this loop goes on with; none where the checkpoint is of another loop."""
    return values_in(saved) if saved.get("loop") == loop else {}


def values_in(saved: Mapping[str, Any]) -> dict[str, Any]:
    """Each where it was: on the GPU, if there is one here."""
    import torch

    values, on_gpu = saved.get("values", {}), saved.get("on_gpu", ()) if torch.cuda.is_available() else ()
    return {name: not_plain(values[name], "cuda" if name in on_gpu else "cpu") for name in values}


def names_in(saved: Mapping[str, Any]) -> dict[str, Any]:
    """What cells before have left: by name a value, or the attributes of a thing."""
    import torch

    device = "cuda" if torch.cuda.is_available() else "cpu"
    return {n: not_plain(c, device if c.get("on_gpu") else "cpu") for n, c in saved.get("names", {}).items()}


def save_checkpoint(
    path: str, place: Mapping[str, object], state: Mapping[str, Any], carried: Mapping[str, Any]
) -> bool:
    """All processes hand in their random numbers; rank 0 writes, and has then written."""
    random = of_all(random_state())
    return write(path, {**place, "random": random}, state, carried)


def of_all(own: Any) -> list[Any]:
    """What each process has, by rank."""
    import torch.distributed as dist

    found: list[Any] = [None] * dist.get_world_size()
    dist.all_gather_object(found, own)
    return found


def write(path: str, place: Mapping[str, object], state: Mapping[str, Any], carried: Mapping[str, Any]) -> bool:
    """Rank 0 does, and has then written."""
    import torch.distributed as dist

    if dist.get_rank() > 0:
        take_part(state.values())
        return False
    values, on_gpu = values_of(carried)
    states = {name: plain(state_of(thing)) for name, thing in state.items()}
    content = {"format": FORMAT, **place, "states": states, "values": values, "on_gpu": on_gpu}
    save_whole(content, path)
    return True


def values_of(carried: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Those that a file can hold, and which of them lie on a GPU; of others it is said."""
    values, on_gpu = {}, []
    for name, value in carried.items():
        try:
            values[name] = plain(list(value) if isinstance(value, collections.deque) else value)
        except (TypeError, ValueError, RecursionError) as reason:  # noqa: PERF203
            print(f"'{name}' is not in the checkpoint: {reason}", file=sys.stderr)
        else:
            on_gpu += [name] if any(tensor.is_cuda for tensor in tensors_in(value)) else []
    return values, on_gpu
