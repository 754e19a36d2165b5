"""Plain values that a training goes on with: the best so far, a history, a count of steps that earlier cells have made.

In the kernel the cell would find them as they are by now. What the training cell itself sets before its loop is none of
these: it is set anew.
"""

from __future__ import annotations

import collections
from collections.abc import Mapping
from typing import Any

from nbddp.analysis import Plan
from nbddp.analysis.state import Passage, carried, name_in_cells

MISSING = object()


def live_values(plan: Plan, passage: Passage, namespace: Mapping[str, Any]) -> dict[str, Any]:
    """By the expression that the loop has for each."""
    found: dict[str, Any] = {}
    for text in carried(plan, passage.fact).values:
        path = name_in_cells(plan, text, passage)
        value = MISSING if path is None else _live(namespace, path)
        if value is not MISSING:
            found[text] = list(value) if isinstance(value, collections.deque) else value
    return found


def _live(namespace: Mapping[str, Any], path: str) -> Any:
    name, *attributes = path.split(".")
    thing = namespace.get(name, MISSING)
    for attribute in attributes:
        thing = getattr(thing, attribute, MISSING)
    return thing
