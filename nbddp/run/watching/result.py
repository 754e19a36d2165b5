"""What the notebook gets back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from nbddp.run.watching.objects import names_of_kernel, save_objects
from nbddp.run.watching.plain_values import bare, comes_back, plain, save_whole
from nbddp.run.watching.sharded import is_sharded, state_of

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
    if (known := names_of_kernel(Path(path).with_name("kernel.json"))) is not None:
        left = {n: bare(t) for n, t in {**values, **states}.items() if n not in result["values"] or not comes_back(t)}
        there = {n for n, thing in left.items() if n in known and hasattr(thing, "state_dict")}
        whole = {n: t for n, t in left.items() if n.isidentifier() and n not in there and not is_sharded(t)}
        reasons = save_objects(whole, scope, known, Path(path).with_name("objects.pt"))
        result["left_out"] = {n: why for n, why in result["left_out"].items() if n not in there | whole.keys()}
        result["left_out"] |= {n: w for n, w in reasons.items() if n not in result["states"].keys() | result["values"]}
    save_whole(result, path)
