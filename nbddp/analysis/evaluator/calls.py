"""Call something in the abstract."""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from functools import reduce

from nbddp.analysis.evaluator.classes import CONTAINER, class_member, container_of, itself, kind_of, line_of, lineage
from nbddp.analysis.evaluator.iteration import only, params_in
from nbddp.analysis.evaluator.libraries import call_library, of_uneven
from nbddp.analysis.evaluator.methods import (
    backward,
    call_method,
    contain,
    fill,
    is_opened,
    reads_more_than_numbers,
    splits,
)
from nbddp.analysis.evaluator.operands import APPLY, keeps_proportion
from nbddp.analysis.evaluator.tensors import DIMENSION, counted, like, note_mixed, of_samples, rearranged
from nbddp.analysis.library import Samples, effect_of, filled, makes, under
from nbddp.analysis.values import (
    ANYTHING,
    HOOKS,
    OF_EACH,
    STATES,
    STATISTIC,
    TURNED,
    WHOLE,
    Args,
    Extent,
    Keywords,
    Machine,
    Obj,
    Value,
    batch_at,
    chosen_by,
    is_of_own_choice,
    join_all,
    join_extent,
    loss_extent,
    marked,
    may_be_an_array,
    note_given,
    note_of_its_batch,
    of_one,
    placed,
    spread,
)

CONTAINERS = ("list", "dict", "set", "collections.deque", "collections.Counter")
SEQUENTIAL = "torch.nn.Sequential"
SUMMARIES = ("torchsummary.summary", "torchsummary.torchsummary.summary", "torchsummaryX.summary")  # run it once


def call(m: Machine, node: ast.Call, func: Value, receiver: Value | None, args: Args, keywords: Keywords) -> Value:
    if not m.tick():
        return ANYTHING
    fact = m.call_fact(node)
    given: list[tuple[int | str, Value]] = [*enumerate(args), *keywords.items()]
    for key, value in given:
        fact.args.see(key, value)
    called = func.objs
    if receiver is not None and isinstance(node.func, ast.Attribute) and node.func.attr in ("forward", "__call__"):
        called = receiver.of("model", "submodule") or called  # DDP does its part in its own forward
    chosen = is_of_own_choice(m.facts, node)
    own = Extent.VARYING if chosen else func.extent
    with chosen_by(m, Value(extent=own)):  # `step_of[loss < limit]()`, `meters[label].update(loss)`
        fact.apart |= (chosen or bool(called)) and m.context.of_share
        results = [r for obj in called if (r := _call_one(m, node, obj, args, keywords)) is not None]
    if results:
        made = join_all(results)
        if own in (Extent.SAMPLES, *WHOLE) or len(called) < 2:
            return made
        if m.context.grad and spread(made) in (Extent.SAMPLES, Extent.MEAN):
            m.facts.chosen_apart.add(node)
        return made.with_extent(Extent.VARYING)  # `steps[k](x)`: as `f(x) if k else g(x)`
    asked = node.func.attr if isinstance(node.func, ast.Attribute) else None
    if receiver is None and isinstance(node.func, ast.Call) and m.facts.calls[node.func].names == {"getattr"}:
        named = m.facts.calls[node.func].args  # `getattr(x, "mean")(0)`
        word = named.get(1, ANYTHING).const
        receiver, asked = (named.get(0), word) if isinstance(word, str) else (None, None)
    if receiver is not None and isinstance(asked, str):
        fact.receivers.update(receiver.objs)
        result = of_uneven(m, call_method(m, node, receiver, asked, args, keywords), args)
        fresh = effect_of(f".{asked}").fresh
        return result if fresh or not receiver.arrays else replace(result, arrays=receiver.arrays)
    made = unknown([func, *args, *keywords.values()])
    return marked(made, STATISTIC) if func.of(STATISTIC) else made  # of whatever method


def unknown(values: list[Value]) -> Value:
    """Whatever comes out differs between ranks if something that goes in does."""
    extent = reduce(join_extent, map(spread, values), Extent.UNIFORM)
    return Value(extent=extent if extent in WHOLE else Extent.VARYING)


def _call_one(m: Machine, node: ast.Call, obj: Obj, args: Args, keywords: Keywords) -> Value | None:
    fact = m.facts.calls[node]
    match obj.kind:
        case "library":
            fact.names.add(name := filled(obj.name, sized=all(v.number or v.of("shape") for v in args or [ANYTHING])))
            return _call_named(m, node, name, args, keywords)
        case "function":
            fact.called.add(obj)
            return m.steps.function(m, obj, args, keywords, node)
        case "partial":
            return _call_partial(m, node, obj, args, keywords)
        case "method":
            return _call_bound(m, node, obj, args, keywords)
        case "bound" if not isinstance(node.func, ast.Attribute) or node.func.attr != obj.name:
            fact.receivers.update({obj.owner} if obj.owner else ())  # `add = log.append; add(loss)`
            return call_method(m, node, Value(frozenset({obj.owner} if obj.owner else ())), obj.name, args, keywords)
        case "class":
            return instance(m, node, obj, args, keywords)
        case "model" | "submodule":
            fact.called.add(obj)
            fact.awake |= obj not in m.asleep
            _note_own_statistics(m, node, obj, args)
            note_given(m, node, [*args, *keywords.values()])
            several = m.facts.value(node.func).of("model", "submodule") | {obj}  # `for layer in layers: x = layer(x)`
            by_parts = any(splits(m, one) for one in several)
            return (_joined if by_parts else _forward)(m, node, obj, args, keywords)
        case "loss":
            note_of_its_batch(m, node, obj.name, args)
            given = [*args, *keywords.values()]
            return of_one(Value(extent=loss_extent(m, obj, given)), given)
        case "instance" | "dataset" | "optimizer" | "scheduler":
            owner = m.facts.classes.get(obj)
            method = class_member(m, owner, "__call__", obj) if owner else None
            if method is not None:
                return join_all(m.steps.function(m, o, args, keywords, node) for o in method.of("method"))
        case "metric":
            return Value(extent=_scored(m, obj, args))
    return None


def _scored(m: Machine, metric: Obj, args: Args) -> Extent:
    """What a metric gives back for a batch; what it has counted, it puts together itself when it is asked."""
    if not any(a.varies for a in args):
        return Extent.UNIFORM
    told = {k.arg for k in metric.node.keywords} if isinstance(metric.node, ast.Call) else set()
    mean = effect_of(metric.name).scores and not told & {"average", "squared", "ignore_index"}
    return Extent.MEAN if mean else m.one_number(Extent.SAMPLES)


def _call_named(m: Machine, node: ast.Call, name: str, args: Args, keywords: Keywords) -> Value | None:
    if name in SUMMARIES:
        for model in (o for v in args for o in v.of("model")):
            m.passed(model)
    if name == "torch.autograd.backward":
        return backward(m, node)
    around, _, word = name.rpartition(".")
    if around in CONTAINERS and args:  # `list.append(log, loss)`
        return call_method(m, node, args[0], word, args[1:], keywords)
    made = call_library(m, node, name, args, keywords)
    if made is None or made.varies or not may_be_an_array(made):
        return made
    if args and args[0].arrays and not effect_of(name).fresh:
        return replace(made, arrays=args[0].arrays)
    return m.make_array(node, made) if under(name, ("numpy", "torch")) else made


def _call_partial(m: Machine, node: ast.Call, obj: Obj, args: Args, keywords: Keywords) -> Value | None:
    given = {f[6:]: v for f, v in m.facts.fields.of(obj) if f.startswith("given ")}
    first, *others = [value for key, value in given.items() if key.isdigit()]
    known = {key: value for key, value in given.items() if not key.isdigit()}
    found = (_call_one(m, node, target, [*others, *args], {**known, **keywords}) for target in first.objs)
    results = [result for result in found if result is not None]
    of_share = m.context.grad and any(m.held(v) not in WHOLE for v in args)
    if obj.name == APPLY and obj.owner is not None and of_share and not keeps_proportion(m, obj.owner):
        m.facts.out_of_proportion.add(node)
    return join_all(results) if results else None


def _call_bound(m: Machine, node: ast.Call, obj: Obj, args: Args, keywords: Keywords) -> Value:
    """A method of the notebook; one of a model that is called from outside passes by the model's forward."""
    fact = m.facts.calls[node]
    owner = obj.owner
    if owner is not None and owner.kind == "optimizer" and obj.name == "step":
        m.mark_loops(step=True)
        fact.optimizers.add(owner)
        if m.sharing() and any(spread(v) not in WHOLE for v in (*args, *keywords.values())):
            m.facts.moved_apart.add(node)
    if owner is None or owner.kind != "model":
        return m.steps.function(m, obj, args, keywords, node)
    fact.methods.add((obj.name, owner))
    before = m.modules_run
    with m.within(forward=True, opened=is_opened(m, owner) or m.context.opened):
        result = m.steps.function(m, obj, args, keywords, node)
    fact.runs_modules |= m.modules_run > before or (result.varies and reads_more_than_numbers(m, obj))
    return result


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
    with m.within(forward=True):
        for part in _called_in_turn(m, obj) if forward is None else ():
            _forward(m, node, part, [Value(extent=extent)], {})
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
    result = _with_states(obj, like(result, given)) if forward is None else result
    if forward is None and obj.kind == "model" and makes(obj.name) == "loss":
        return Value(extent=Extent.MEAN if varies else Extent.UNIFORM)
    return result


def _run(m: Machine, node: ast.Call, function: Obj, args: Args, keywords: Keywords) -> Value | None:
    if function.kind == "partial":
        return _call_partial(m, node, function, args, keywords)
    return m.steps.function(m, function, args, keywords, node)


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


def instance(m: Machine, node: ast.expr, cls: Obj, args: Args, keywords: Keywords, owner: Obj | None = None) -> Value:
    assert isinstance(cls.node, ast.ClassDef)
    kind = kind_of(m, cls.node)
    loaders = {o for v in (*args, *keywords.values()) for o in v.of("loader")} if kind == "instance" else set[Obj]()
    turn = m.context.turn if kind == "instance" else None  # `{phase: Meter() for phase in phases}`: one for each
    obj = Obj(kind, node, cls.name, owner or only(loaders) or turn, m.frame.call)
    m.facts.classes[obj] = cls.node
    if isinstance(node, ast.Call):
        m.facts.calls[node].made.add(obj)
    if obj.kind == "instance" and (container := container_of(m, cls.node)):
        m.put(obj, CONTAINER, Value(frozenset({Obj(container, node, cls.name, obj, m.frame.call)})))
    init = class_member(m, cls.node, "__init__", obj)
    if init is not None:
        with m.within(forward=False):
            for method in init.of("method"):
                m.steps.function(m, method, args, keywords, node)
    else:
        _record_fields(m, obj, cls.node, args, keywords)
    if obj.kind == "model":
        contain(m, obj)
    if obj.kind == "loader" and args:
        m.put(obj, "dataset", args[0])
    if obj.kind == "optimizer":
        m.put(obj, "params", Value(frozenset(o for v in (*args, *keywords.values()) for o in params_in(m, v))))
    return itself(m, obj)


def _record_fields(m: Machine, obj: Obj, node: ast.ClassDef, args: Args, keywords: Keywords) -> None:
    """A dataclass: its fields are its arguments; a subclass of a library's class: what it is given."""
    bodies = [s for cls in reversed([*lineage(m, node)]) if isinstance(cls.node, ast.ClassDef) for s in cls.node.body]
    fields = {s.target.id: s.value for s in bodies if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name)}
    given = {**dict(zip(fields, args, strict=False)), **keywords}
    defaults = {n: _made_anew(m, obj, d) for n, d in fields.items() if isinstance(d, ast.Call) and n not in given}
    for name, value in {**defaults, **given}.items():
        if value is not None:
            m.put(obj, name, value)
    for i, value in enumerate(args):
        m.put(obj, f"argument {i}", value)
    fill(m, m.get(obj, CONTAINER) or ANYTHING, args, keywords)


def _made_anew(m: Machine, obj: Obj, default: ast.Call) -> Value | None:
    """`losses: list = field(default_factory=list)`: one for each instance."""
    factory = next((k.value for k in default.keywords if k.arg == "default_factory"), None)
    around, m.frame.receiver = m.frame.receiver, obj  # by which what is made is told apart
    makers = m.facts.value(factory).objs if factory is not None else ()
    made = [value for maker in makers if (value := _call_one(m, default, maker, [], {})) is not None]
    m.frame.receiver = around
    return join_all(made) if made else None
