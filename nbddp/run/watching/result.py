"""What the notebook gets back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from nbddp.run.watching.plain_values import bare, plain, save_whole
from nbddp.run.watching.sharded import state_of

FORMAT = 1


def deliver(path: str, states: Mapping[str, Any], names: Sequence[str], scope: Mapping[str, Any]) -> None:
    """Leave what has come of the training where the notebook looks for it."""
    result: dict[str, Any] = {"format": FORMAT, "states": {}, "values": {}, "left_out": {}}
    values = {name: scope[name] for name in names if name in scope}
    for kind, things in (("states", states), ("values", values)):
        for name, thing in things.items():
            try:
                result[kind][name] = plain(state_of(bare(thing)) if kind == "states" else thing)
            except (AttributeError, TypeError, ValueError, RecursionError) as reason:  # noqa: PERF203
                result["left_out"][name] = str(reason)
    save_whole(result, path)
