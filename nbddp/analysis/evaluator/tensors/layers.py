"""What a layer makes of the shape of what it is given."""

from __future__ import annotations

import ast
import re
from collections.abc import Set
from functools import reduce

from nbddp.analysis.evaluator.tensors.reshaping import renamed
from nbddp.analysis.library import effect_of
from nbddp.analysis.values import ANYTHING, AsMany, Dimensions, Machine, Obj, Several, Sizes, Value, either

SEQUENTIAL = "torch.nn.Sequential"

PLANES = ("Conv", "Pool")  # whose sizes it changes
BY_PLANES = re.compile(r"(?:Conv|ConvTranspose|MaxPool|AvgPool|BatchNorm)([23])d")  # which takes no other tensors


def note_ranks(m: Machine, node: ast.expr) -> None:
    """How many dimensions something has, by the layer that it is given to."""
    if not isinstance(node, ast.Call) or not node.args:
        return
    given = m.facts.value(node.args[0]).shape
    for layer in m.facts.value(node.func).of("model", "submodule") if isinstance(given, AsMany) else ():
        if isinstance(given, AsMany) and (planes := _planes(m, layer)):
            m.facts.ranks[given.of].add(planes + 2 - given.more)


def _planes(m: Machine, layer: Obj) -> int:
    """In how many directions it goes; of an `nn.Sequential` its first layer that does."""
    if layer.name != SEQUENTIAL:
        by_planes = BY_PLANES.search(layer.name)
        return int(by_planes[1]) if by_planes else 0
    for parts in _parts(m, layer):
        found = {_planes(m, part) for part in parts}
        if found != {0} or not all(effect_of(part.name).as_many for part in parts):
            return found.pop() if len(found) == 1 else 0
    return 0


def _parts(m: Machine, layer: Obj) -> list[Set[Obj]]:
    """Of an `nn.Sequential`; of `nn.Sequential(*layers)` the order is not known: all of them together."""
    written = layer.node.args if isinstance(layer.node, ast.Call) else []
    parts = [m.facts.value(a).of("model") for a in written]
    if written and all(len(p) == 1 for p in parts):
        return [*parts]
    return [(m.get(layer, "[]") or ANYTHING).of("model")]


def after_layer(m: Machine, layers: Set[Obj], before: Dimensions) -> Dimensions:
    """Of `nn.Linear(3, 1)(x)`; of several that it may be what they have alike."""
    found = [_after(m, before, layer) for layer in layers]
    return reduce(either, found) if found else None


def _after(m: Machine, before: Dimensions, layer: Obj) -> Dimensions:
    if layer in m.facts.classes:
        return None
    if layer.name == SEQUENTIAL:
        return _in_turn(m, before, layer)
    if layer.name.startswith("einops.") and isinstance(layer.node, ast.Call):
        pattern = m.facts.calls[layer.node].args.get(0, ANYTHING).const
        return renamed(before if isinstance(before, tuple) else None, pattern)
    if layer.name == "torch.nn.Flatten":
        first = _argument(m, layer, 0, "start_dim")
        return (None, None) if first is None else (None,) if first == 0 else None
    op = effect_of(layer.name)
    if op.state and op.sequence:  # what it gives for each step, and its states
        steps = (*before[:-1], None) if isinstance(before, tuple) and before else None
        return Several((steps, _states(m, layer)))
    if isinstance(before, tuple) and layer.name == "torch.nn.Embedding":
        return (*before, _argument(m, layer, 1, "embedding_dim"))
    if not isinstance(before, tuple) or not before or not op.as_many:
        return None
    if any(word in layer.name for word in PLANES):
        return (before[0], *(None for _ in before[1:]))
    if layer.name == "torch.nn.Linear":
        return (*before[:-1], _argument(m, layer, 1, "out_features"))
    return before


def _states(m: Machine, layer: Obj) -> Sizes:
    """Of each layer, one for each direction."""
    fact = m.facts.calls.get(layer.node) if isinstance(layer.node, ast.Call) else None
    given = fact.args if fact is not None else {}
    layers = given.get(2) or given.get("num_layers") or Value(const=1)
    both = given.get("bidirectional") or Value(const=False)
    if any(key == "**" or (isinstance(key, int) and key > 2) for key in given):
        return (None,) * 3
    many = layers.const * (1 + both.const) if isinstance(layers.const, int) and isinstance(both.const, bool) else None
    return (many, None, None if "proj_size" in given else _argument(m, layer, 1, "hidden_size"))


def _in_turn(m: Machine, before: Dimensions, layer: Obj) -> Dimensions:
    """Through the parts of an `nn.Sequential`."""
    parts = _parts(m, layer)
    if all(len(p) == 1 for p in parts):
        return reduce(lambda shape, part: after_layer(m, part, shape), parts, before)
    held = parts[0]
    kept = held and all(effect_of(o.name).as_many and o not in m.facts.classes for o in held)
    return (None,) * len(before) if kept and isinstance(before, tuple) else None


def _argument(m: Machine, layer: Obj, place: int, name: str) -> int | None:
    fact = m.facts.calls.get(layer.node) if isinstance(layer.node, ast.Call) else None
    value = fact and (fact.args.get(place) or fact.args.get(name))
    return value.const if value and isinstance(value.const, int) else None
