"""What a library makes: loaders, models, optimizers and so on."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from nbddp.analysis.evaluator.iteration import SHAPES, params_in, parts
from nbddp.analysis.library import Gives, effect_of, is_class, makes
from nbddp.analysis.values import ANYTHING, Args, Keywords, Machine, Obj, Several, Value, spread, thing

THINGS = ("loss", "parameter", "parser", "scaler", "device", "sampler", "dataset", "split", "writer", "file", "logger",
          "tracker", "metric", "drawing")  # fmt: skip


def make_thing(m: Machine, node: ast.Call, name: str, args: Args, keywords: Keywords) -> Value | None:
    """Things that a library makes: loaders, models, optimizers and so on."""
    first, kind, call = args[0] if args else ANYTHING, makes(name), m.frame.call
    if name in ("torch.optim.swa_utils.AveragedModel", "copy.deepcopy"):
        return _copied(m, node, first) if first.of("model") else (first if name == "copy.deepcopy" else None)
    if kind == "loader":
        return made_with(m, thing(kind, node, name, m.context.turn, call), {"dataset": first, **keywords})
    if kind == "scheduler":
        return made_with(m, thing(kind, node, name, None, call), {"optimizer": keywords.get("optimizer", first)})
    owners = params_in(m, keywords.get("params", first))
    if kind == "optimizer" or (owners and is_class(name) and not name.startswith("torch.nn")):
        return made_with(m, thing("optimizer", node, name, None, call), {"params": Value(owners)})
    if kind == "model" and effect_of(name).gives is not Gives.ITSELF:
        return _model(m, node, name, [*args, *keywords.values()])
    if kind not in THINGS:
        return None
    if kind == "drawing":  # a figure, its axes, and what stands in them
        drawing = thing(kind, node, name, None, None)
        return made_with(m, drawing, {"[]": drawing})
    fields = {"source": first} if kind in ("sampler", "dataset", "split") else keywords if kind == "loss" else {}
    if name.endswith("TensorDataset"):
        sizes = (v.shape if isinstance(v.shape, tuple) and v.shape else None for v in args)
        fields[SHAPES] = Value(shape=Several(tuple(s and (None, *s[1:]) for s in sizes)))
    made = made_with(m, thing(kind, node, name, None, call if kind in ("loss", "parameter") else None), fields)
    return replace(made, extent=spread(first), shape=first.shape) if kind == "parameter" else made


def made_with(m: Machine, made: Value, fields: Keywords) -> Value:
    for obj in made.objs:
        for name, value in fields.items():
            m.put(obj, name, value)
    return made


def _copied(m: Machine, node: ast.Call, value: Value) -> Value:
    copies = set()
    for obj in value.of("model"):
        copy = Obj("model", node, f"copy of {obj.name}", None, m.frame.call)
        if obj in m.facts.classes:
            m.facts.classes[copy] = m.facts.classes[obj]
        for (owner, name), field in list(m.facts.fields.items()):
            if owner == obj:
                m.put(copy, name, field)
        copies.add(copy)
    return Value(frozenset(copies))


def _model(m: Machine, node: ast.Call, name: str, given: list[Value]) -> Value:
    made = thing("model", node, name, None, m.frame.call)
    (obj,) = made.objs
    for value in given:
        for child in parts(m, value):
            m.facts.contained[child].add(obj)
        if "Sequential" in name or "ModuleList" in name or "ModuleDict" in name:
            inner = value if value.of("model") else m.elements(value)
            if inner.objs:
                m.put(obj, "[]", inner)
    for key, part in _numbered(m, node, name, given):
        m.put(obj, f"[{key!r}]", part)
    return made


def _numbered(m: Machine, node: ast.Call, name: str, given: list[Value]) -> Iterator[tuple[object, Value]]:
    """Of `nn.Sequential(first, second)`, `nn.ModuleList([first, second])`, `nn.ModuleDict({"a": first})` each part."""
    if name.endswith(".Sequential") and not any(isinstance(a, ast.Starred) for a in node.args):
        yield from enumerate(v for v in given if v.of("model"))
    match node.args:
        case [ast.List(elts=parts)] if name.endswith(".ModuleList") and not any(
            isinstance(p, ast.Starred) for p in parts
        ):
            yield from enumerate(m.facts.value(part) for part in parts)
        case [ast.Dict(keys=keys, values=parts)] if name.endswith(".ModuleDict"):
            named = zip(keys, parts, strict=True)
            yield from ((key.value, m.facts.value(part)) for key, part in named if isinstance(key, ast.Constant))
