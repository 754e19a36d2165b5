"""Call something in the abstract."""

from __future__ import annotations

import ast
from dataclasses import replace
from functools import reduce

from nbddp.analysis.evaluator.classes import CONTAINER, class_member, container_of, itself, kind_of, lineage
from nbddp.analysis.evaluator.iteration import only, params_in
from nbddp.analysis.evaluator.libraries import call_library, of_uneven
from nbddp.analysis.evaluator.methods import (
    backward,
    call_method,
    contain,
    fill,
    is_opened,
    reads_more_than_numbers,
    run_model,
    with_given,
)
from nbddp.analysis.evaluator.operands import APPLY, keeps_proportion
from nbddp.analysis.library import effect_of, filled, under
from nbddp.analysis.values import (
    ANYTHING,
    STATISTIC,
    WHOLE,
    Args,
    Extent,
    Keywords,
    Machine,
    Obj,
    Value,
    chosen_by,
    is_of_own_choice,
    join_all,
    join_extent,
    loss_extent,
    marked,
    may_be_an_array,
    note_of_its_batch,
    of_one,
    spread,
)

CONTAINERS = ("list", "dict", "set", "collections.deque", "collections.Counter")
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
            return run_model(m, node, obj, args, keywords)
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
    first, given, named = with_given(m, obj, args, keywords)
    found = (_call_one(m, node, target, given, named) for target in first.objs)
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
