"""What trainings of earlier cells have left by name, for what a run goes through again behind them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nbddp.analysis import Plan
from nbddp.analysis.state import NameLeft, is_untouched, names_left, rebound
from nbddp.analysis.values import ANYTHING
from nbddp.cli.parse import Refusal
from nbddp.magics.handover.restoring import bare


def left_behind(plan: Plan, namespace: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """By name its value, or the state or attributes of a thing that the script makes; a Refusal where it has none."""
    others = rebound(plan)
    found: dict[str, dict[str, Any]] = {}
    for one in names_left(plan):
        if one.name in namespace and one.name not in found and not is_untouched(plan, one.name):
            content = None if one.name in others else _content(plan, one, namespace[one.name])
            if content is None and one.kept:
                raise _cannot(plan, one)
            found |= {one.name: content} if content else {}
    return found


def _content(plan: Plan, one: NameLeft, value: Any) -> dict[str, Any] | None:
    """As a file can hold it; None where it cannot."""
    from nbddp.run.watching.plain_values import plain, tensors_in

    if hasattr(value, "state_dict"):  # what is computed with a model needs it as it is; others begin with their loop
        return {"state": plain(bare(value).state_dict())} if hasattr(value, "parameters") and not one.kept else None
    known = plan.facts.final.get(one.name, ANYTHING)
    try:
        return {"value": plain(value), "on_gpu": any(tensor.is_cuda for tensor in tensors_in(value))}
    except (TypeError, ValueError, RecursionError):
        attributes = _attributes(value) if known.of("instance") else {}
        return {"attributes": attributes} if attributes else None


def _attributes(thing: Any) -> dict[str, Any]:
    from nbddp.run.watching.plain_values import plain

    found = {}
    for name, value in getattr(thing, "__dict__", {}).items():
        try:
            found[name] = plain(value)
        except (TypeError, ValueError, RecursionError):  # noqa: PERF203
            continue
    return found


def _cannot(plan: Plan, one: NameLeft) -> Refusal:
    cell, line = plan.program.place(one.read_by.node.lineno)
    return Refusal(
        f"Cell {cell.number}, line {line}, needs {one.name}, a model that the training of cell "
        f"{one.at.cell.number} has kept: it cannot be passed to the processes. Keep {one.name}.state_dict() there "
        "instead, or add --fresh to start from the beginning."
    )
