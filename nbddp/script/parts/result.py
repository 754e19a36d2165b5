"""What the notebook gets back."""

# mypy: ignore-errors
# ruff: noqa: PERF203

import os

import torch.distributed as dist

from nbddp.script.parts.checkpoint import plain, save_whole
from nbddp.script.parts.reporting import report


def deliver(states, names, scope):
    """Rank 0 leaves what has come of the training for the notebook that started it, where NBDDP_RESULT says."""
    path = os.environ.get("NBDDP_RESULT")
    if path is None or dist.get_rank() > 0:
        return
    values = {name: scope.get(name, globals().get(name)) for name in names if name in {*scope, *globals()}}
    result = {"format": 1, "states": {}, "values": {}, "left_out": {}}
    for kind, things in (("states", states), ("values", values)):
        for name, thing in things.items():
            try:
                result[kind][name] = plain(thing.state_dict() if kind == "states" else thing)
            except (AttributeError, TypeError, ValueError, RecursionError) as reason:
                result["left_out"][name] = str(reason)
    save_whole(result, path)
    report("result", path=path)
