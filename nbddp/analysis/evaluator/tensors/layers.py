"""What a layer makes of the shape of what it is given."""

from __future__ import annotations

import ast
from collections.abc import Set
from functools import reduce

from nbddp.analysis.evaluator.tensors.reshaping import Found
from nbddp.analysis.library import effect_of
from nbddp.analysis.values import ANYTHING, Machine, Obj, Several

SEQUENTIAL = "torch.nn.Sequential"

PLANES = ("Conv", "Pool")  # whose sizes it changes


def after_layer(m: Machine, layers: Set[Obj], before: Found) -> Found:
    """Of `nn.Linear(3, 1)(x)`; of several that it may be what they have alike."""
    found = {_after(m, before, layer) for layer in layers}
    return found.pop() if len(found) == 1 else None


def _after(m: Machine, before: Found, layer: Obj) -> Found:
    if layer in m.facts.classes:
        return None
    if layer.name == SEQUENTIAL:
        return _in_turn(m, before, layer)
    if layer.name == "torch.nn.Flatten":
        first = _argument(m, layer, 0, "start_dim")
        return (None, None) if first is None else (None,) if first == 0 else None
    op = effect_of(layer.name)
    if not isinstance(before, tuple) or not (op.as_many or op.state):
        return None
    if op.state:  # what it gives for each step, and its state
        return Several(((*before[:-1], None), None)) if op.sequence else None
    if any(word in layer.name for word in PLANES):
        return (before[0], *(None for _ in before[1:]))
    if layer.name == "torch.nn.Linear":
        return (*before[:-1], _argument(m, layer, 1, "out_features"))
    return before


def _in_turn(m: Machine, before: Found, layer: Obj) -> Found:
    """Through the parts of an `nn.Sequential`; of `nn.Sequential(*layers)` the order is not known."""
    written = layer.node.args if isinstance(layer.node, ast.Call) else []
    parts = [m.facts.value(a).of("model") for a in written]
    if written and all(len(p) == 1 for p in parts):
        return reduce(lambda shape, part: after_layer(m, part, shape), parts, before)
    held = (m.get(layer, "[]") or ANYTHING).of("model")
    kept = held and all(effect_of(o.name).as_many and o not in m.facts.classes for o in held)
    return (None,) * len(before) if kept and isinstance(before, tuple) else None


def _argument(m: Machine, layer: Obj, place: int, name: str) -> int | None:
    fact = m.facts.calls.get(layer.node) if isinstance(layer.node, ast.Call) else None
    value = fact and (fact.args.get(place) or fact.args.get(name))
    return value.const if value and isinstance(value.const, int) else None
