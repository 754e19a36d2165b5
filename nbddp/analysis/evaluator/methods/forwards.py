"""What a model makes of what it is given: its own forward, or that of a layer of torch; of a whole batch its part."""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from functools import reduce

from nbddp.analysis.evaluator.classes import class_member, line_of
from nbddp.analysis.evaluator.methods.models import is_opened, splits
from nbddp.analysis.evaluator.tensors import DIMENSION, counted, like, note_mixed, of_samples, rearranged
from nbddp.analysis.library import Samples, effect_of, makes
from nbddp.analysis.values import (
    ANYTHING,
    HOOKS,
    OF_EACH,
    STATES,
    TURNED,
    WHOLE,
    Args,
    Extent,
    Keywords,
    Machine,
    Obj,
    Value,
    batch_at,
    join_all,
    join_extent,
    marked,
    note_given,
    placed,
    spread,
)

SEQUENTIAL = "torch.nn.Sequential"


def run_model(m: Machine, node: ast.Call, obj: Obj, args: Args, keywords: Keywords) -> Value:
    """A call of it; where one of several that are meant splits a batch, all do: `for layer in layers: x = layer(x)`."""
    fact = m.facts.calls[node]
    fact.called.add(obj)
    fact.awake |= obj not in m.asleep
    _note_own_statistics(m, node, obj, args)
    note_given(m, node, [*args, *keywords.values()])
    if m.sharing() and _shortens_rows(obj) and any(m.held(v) not in WHOLE for v in args):
        m.facts.moved_apart.add(node)
    several = m.facts.value(node.func).of("model", "submodule") | {obj}
    by_parts = any(splits(m, one) for one in several)
    return (_joined if by_parts else _forward)(m, node, obj, args, keywords)


def _joined(m: Machine, node: ast.Call, obj: Obj, args: Args, keywords: Keywords) -> Value:
    """Given a whole batch, a model splits it, and all ranks have what it makes of all parts."""
    if any(spread(v) not in WHOLE for v in (*args, *keywords.values())):
        return _forward(m, node, obj, args, keywords)
    mine = [v if v.number else v.with_extent(Extent.SAMPLES) for v in args]
    named = {key: v if v.number else v.with_extent(Extent.SAMPLES) for key, v in keywords.items()}
    result = _forward(m, node, obj, mine, named)
    m.call_fact(node).joined.see("", result)
    for active in m.loops:
        active.draw_next(batch_at(node))
    whole = Value(extent=Extent.REPEATED)
    return whole if result.items is None else replace(whole, items=tuple(whole for _ in result.items))


def _forward(m: Machine, node: ast.Call, obj: Obj, args: Args, keywords: Keywords) -> Value:
    owner = m.facts.classes.get(obj)
    forward = (class_member(m, owner, "__call__", obj) or class_member(m, owner, "forward", obj)) if owner else None
    forward = m.get(obj, "forward") or forward  # `model.forward = types.MethodType(forward, model)`
    given = [*args, *keywords.values()]
    unpacked = m.held(keywords["**"]) if "**" in keywords else Extent.UNIFORM
    extent = reduce(join_extent, map(m.held, given), unpacked)
    varies = extent not in WHOLE
    first = m.held(given[0]) if given else extent  # what follows may be states, which are seen later
    if first is Extent.VARYING and m.context.grad and not m.context.forward:
        m.facts.given_unclear.add(node)
    m.modules_run += m.context.grad
    m.passed(obj, node, of_part=varies)
    result = ANYTHING
    if forward is not None:
        with m.within(forward=True, opened=is_opened(m, obj)):
            found = (_run(m, node, f, args, keywords) for f in forward.of("method", "function", "partial"))
            result = join_all(r for r in found if r is not None)
    with m.within(forward=True, opened=is_opened(m, obj)):
        turns = _called_in_turn(m, obj) if forward is None else []
        made = [_forward(m, node, part, [Value(extent=extent)], {}) for part in turns]
    mixed = bool(m.assumed.joined) and any(spread(value) is Extent.VARYING for value in made)
    hooks, seen = _hooks_of(m, obj), [Value(frozenset({obj})), Value(items=tuple(args)), Value(extent=extent)]
    with m.within(forward=True, hooked=bool(m.assumed.splits or m.assumed.joined)):
        for hook in hooks:
            m.steps.function(m, hook, seen, {}, node)
    if forward is None and (weighed := _weighed(m, node, obj, args)) is not None:
        return weighed
    if not varies and not m.sharing() and result.varies:
        result = result.with_extent(Extent.REPEATED)  # what it keeps from the training does not add up
    if not varies and not result.varies:
        result = replace(result, extent=join_extent(spread(result), Extent.REPEATED))
    bodies = {f.node for f in forward.of("method", "function")} if forward is not None else set[ast.AST]()
    averages = any(m.program.function_of(n) in bodies for n in m.assumed.averaged)
    if varies and m.held(result) in WHOLE and not averages:
        result = Value(result.objs - result.of("model", "submodule"), Extent.SAMPLES)
    if varies and result.extent is Extent.VARYING and forward is None:
        result = Value(result.objs, Extent.SAMPLES)
    result = result.with_extent(Extent.VARYING) if varies and mixed else result
    result = _with_states(obj, like(result, given)) if forward is None else result
    if forward is None and obj.kind == "model" and makes(obj.name) == "loss":
        return Value(extent=Extent.MEAN if varies else Extent.UNIFORM)
    return result


def _run(m: Machine, node: ast.Call, function: Obj, args: Args, keywords: Keywords) -> Value | None:
    if function.kind != "partial":
        return m.steps.function(m, function, args, keywords, node)
    first, args, keywords = with_given(m, function, args, keywords)
    found = [m.steps.function(m, f, args, keywords, node) for f in first.of("method", "function")]
    return join_all(found) if found else None


def with_given(m: Machine, partial: Obj, args: Args, keywords: Keywords) -> tuple[Value, Args, Keywords]:
    """What a `partial` calls, and all that it is given."""
    given = {f[6:]: v for f, v in m.facts.fields.of(partial) if f.startswith("given ")}
    first, *others = [value for key, value in given.items() if key.isdigit()]
    known = {key: value for key, value in given.items() if not key.isdigit()}
    return first, [*others, *args], {**known, **keywords}


def _hooks_of(m: Machine, obj: Obj) -> list[Obj]:
    """Its own, and those of the layers that it is made of: `for layer in model: layer.register_forward_hook(see)`."""
    parts = {obj.owner or obj} if m.context.forward else m.facts.with_parts({obj.owner or obj})
    hooked = [m.get(part, HOOKS) or ANYTHING for part in parts]
    return sorted({o for value in hooked for o in value.of("function", "method")}, key=line_of)


def _with_states(layer: Obj, made: Value) -> Value:
    """What an `nn.LSTM` gives: of each sample its output, and behind the layers its states."""
    if not (effect_of(layer.name).sequence and effect_of(layer.name).state) or spread(made) is not Extent.SAMPLES:
        return made
    state = marked(placed(replace(made, objs=made.of(*OF_EACH), shape=None)), TURNED, STATES)
    return Value(items=(made, Value(items=(state, state)) if layer.name.endswith("LSTM") else state))


def _shortens_rows(layer: Obj) -> bool:
    """`nn.Embedding(20, 8, max_norm=1)`, in place: those that it is asked for."""
    made = layer.node.keywords if isinstance(layer.node, ast.Call) else []
    return any(k.arg == "max_norm" and getattr(k.value, "value", k) is not None for k in made)


def _note_own_statistics(m: Machine, node: ast.Call, layer: Obj, args: Args) -> None:
    """`nn.LayerNorm(x.shape)(x)`, `nn.BatchNorm1d(3)(x)`: built in the step, of the shape or the numbers of a share."""
    built = m.facts.calls.get(layer.node) if isinstance(layer.node, ast.Call) else None
    steps = {a.fact.node for a in m.loops if m.shares(a)}  # not one that builds layers
    if built is None or not (built.loops & steps and m.context.grad and args and spread(args[0]) is Extent.SAMPLES):
        return
    if effect_of(layer.name).batch or any(v.of("shape") and v.varies for v in built.args.values()):
        m.facts.against_statistic.add(node)


def _called_in_turn(m: Machine, obj: Obj) -> list[Obj]:
    """The notebook's own parts of an `nn.Sequential`, which calls each with what the one before has given.

    Also a layer that may go through the samples, as `nn.Softmax(dim=0)` does.
    """
    held = (m.get(obj, "[]") or ANYTHING).of("model") if obj.name == SEQUENTIAL else frozenset()
    own = (o for o in held if o in m.facts.classes or o.name == SEQUENTIAL or m.get(o, "forward") or _along(o))
    return sorted(own, key=line_of)


def _along(layer: Obj) -> str:
    """`softmax`, of `nn.Softmax`, where it goes along a dimension."""
    word = re.sub("(?<!^)(?=[A-Z])", "_", layer.name.removeprefix("torch.nn.")).lower()
    return word if effect_of(f".{word}").samples in (Samples.WEIGHS, Samples.ALONG) else ""


def _weighed(m: Machine, node: ast.Call, obj: Obj, args: Args) -> Value | None:
    """`nn.Softmax(dim=0)(x)` is `x.softmax(0)`, `nn.CosineSimilarity()(x, y)` is that of `x` with `y`."""
    if obj.name.startswith("einops.") and args and spread(args[0]) is Extent.SAMPLES and isinstance(obj.node, ast.Call):
        pattern, done, *_ = [m.facts.calls[obj.node].args.get(key, ANYTHING).const for key in (0, 1)]
        return rearranged(args[0], pattern, done)
    word, op = _along(obj), effect_of(f".{_along(obj)}")
    if not word or not args or not isinstance(obj.node, ast.Call):
        return None
    keys = ("dim",) if word == "pairwise_distance" else (0, "dim")
    along = [v for key, v in m.facts.calls[obj.node].args.items() if key in keys]
    others, asked = counted(word, args[0], args[1:], dict(zip(DIMENSION, along, strict=False)))
    note_mixed(m, node, args[0], word, others, asked)
    return of_samples(m, args[0], word, others, asked, op.samples)
