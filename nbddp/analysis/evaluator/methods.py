"""Call a method in the abstract: of models, optimizers, containers, and tensors."""

from __future__ import annotations

import ast
from dataclasses import replace

from nbddp.analysis.evaluator.attributes import bases_of, class_member
from nbddp.analysis.evaluator.iteration import iterate, params_in
from nbddp.analysis.evaluator.tensor_rules import (
    like,
    lined,
    note_mixed,
    of_samples,
    of_size,
    operation,
    samples_at,
)
from nbddp.analysis.evaluator.writes import (
    grows_apart,
    hand_over,
    moved_by_hand,
    put_all,
    put_element,
    taint,
    was_there,
    were_there,
)
from nbddp.analysis.library import Samples, effect_of, steps_within
from nbddp.analysis.syntax import walk
from nbddp.analysis.values import (
    ANYTHING,
    HOOKS,
    MOVED,
    PICKED,
    TURNED,
    UNARY,
    WHOLE,
    Extent,
    Frame,
    Machine,
    Obj,
    Value,
    call_parser,
    elementwise,
    foreign,
    has_parameters,
    is_of_own_choice,
    join,
    note_size,
    optimizers_of,
    spread,
    thing,
)

Args = list[Value]
Keywords = dict[str, Value]

RETURNS_MODEL = frozenset(
    "to cuda cpu train eval half float double bfloat16 type apply requires_grad_ share_memory".split()
)
SHORTENS = frozenset({"clear", "remove", "discard", "popitem"})
REPLACES = frozenset({"zero_", "fill_", "copy_"})
LEAVES_VALUES = frozenset({"requires_grad_", "retain_grad_", "share_memory_", "__"})


def call_method(m: Machine, node: ast.Call, base: Value, attr: str, args: Args, keywords: Keywords) -> Value:
    if attr == "backward":
        return backward(m, node)
    if attr in RETURNS_MODEL and base.of("foreign"):
        return Value(base.of("foreign"))
    if attr in ("parameters", "named_parameters"):
        has_parameters(m, base)
    if attr == "step" and (inner := optimizers_of(m, base)):
        m.mark_loops(step=True)
        m.facts.calls[node].optimizers.update(inner)
    if attr in ("load_state_dict", "update_parameters") and isinstance(node.func, ast.Attribute):
        moved_by_hand(m, node.func.value)
    for step in steps_within(attr):
        _with_a_batch(m, node, step, [*args, *keywords.values()])
    for kinds, method in _BY_KIND:
        if base.of(*kinds):
            found = method(m, node, base, attr, args, keywords)
            if found is not None:
                return found
    op = effect_of(f".{attr}")
    keeps = op.samples is Samples.KEEPS
    note_mixed(m, node, base, attr, args, keywords)
    word = attr if keeps or attr in LEAVES_VALUES | REPLACES or attr.endswith("__") else attr.removesuffix("_")
    result = _tensor(m, base, word, args, keywords)
    if attr.endswith("_") and attr not in LEAVES_VALUES and isinstance(node.func, ast.Attribute):
        moved_by_hand(m, node.func.value, [*args, *keywords.values()])
    if not (op.reads or keeps) and isinstance(node.func, ast.Attribute):
        _change_in_place(m, node, node.func, base, result, [*args, *keywords.values()])
    unknown = base.of("foreign") and not result.objs and not result.varies and not keeps
    return replace(foreign(m, node, attr), extent=result.extent) if unknown else result  # `data.make_loader()`


def _with_a_batch(m: Machine, node: ast.Call, step: str, given: Args) -> None:
    """`trainer.fit(net)`: what `net.training_step(batch, 0)` does to the samples; the framework is who trains."""
    for obj in (o for value in given for o in value.of("model", "instance") if o in m.facts.classes):
        for method in (class_member(m, m.facts.classes[obj], step, obj) or ANYTHING).of("method"):
            with m.within(grad=False):
                m.steps.function(m, method, [Value(extent=Extent.SAMPLES), ANYTHING], {}, node)


def _change_in_place(m: Machine, node: ast.Call, func: ast.Attribute, base: Value, result: Value, given: Args) -> None:
    """`total.add_(x)`, `meter.update(loss)`: what goes in makes what it stands for differ between ranks."""
    hand_over(m, node, given, {})
    if func.attr.endswith("_") and func.attr not in LEAVES_VALUES and (result.varies or base.varies):
        taint(m, func.value, spread(result))
    elif (any(m.held(v) not in WHOLE for v in given) or _counts_turns(m, func, base)) and not base.varies:
        taint(m, func.value, Extent.VARYING)
        for obj in base.of("instance"):  # of a list's class, or a dictionary's
            m.put(obj, "[]", Value(extent=Extent.VARYING))
    elif base.const is not None and func.attr.endswith("_") and func.attr not in LEAVES_VALUES | REPLACES:
        taint(m, func.value, spread(base))  # `hot = torch.zeros(n, 3); hot.scatter_(1, y, 1)`: no zeros any more


def _counts_turns(m: Machine, func: ast.Attribute, base: Value) -> bool:
    """`seen.add_(1)` for each batch of an evaluation, of which a rank has a part."""
    again = func.attr.endswith("_") and not func.attr.endswith("__") and func.attr not in LEAVES_VALUES | REPLACES
    return again and bool(base.arrays) and was_there(m, func.value, lambda a: a.deals)


def _one_for_each_turn(m: Machine, node: ast.Call, holders: frozenset[Obj], value: Value) -> bool:
    """`log.append(1)`, of which a rank has as many as it has batches of an evaluation."""
    given = any(o.node in walk(node.func) for o in holders)  # `d.setdefault("log", []).append(1)`: which stays in `d`
    there = (given and m.deals()) or were_there(m, holders, lambda a: a.deals)
    return m.held(value) in WHOLE and not value.objs - value.of("counter") and there


def backward(m: Machine, node: ast.Call) -> Value:
    m.facts.backward.add(node)
    fact = m.facts.calls[node]
    fact.visible.see_all(m.visible())
    m.mark_backward(m.context.conditions)
    return ANYTHING


def _model(m: Machine, node: ast.Call, base: Value, attr: str, args: Args, keywords: Keywords) -> Value | None:
    models = base.of("model", "submodule")
    if attr in RETURNS_MODEL:
        if attr in ("train", "eval"):
            m.mark_loops(toggles=True)
            mode = attr == "train" and (not args or args[0].const is not False)
            m.let_sleep(m.asleep - models if mode else m.asleep | models)
        return Value(models)
    if attr in ("parameters", "named_parameters", "buffers"):
        return Value(frozenset(Obj("params", node, attr, _whole(o)) for o in models))
    if attr in ("modules", "children", "named_modules", "named_children"):
        return Value(frozenset(Obj("submodule", node, attr, _whole(o)) for o in models))
    if attr in ("append", "extend", "add_module", "insert"):
        for owner in base.of("model"):
            for value in args:
                for child in value.of("model"):
                    m.facts.contained[child].add(owner)
                    m.put(owner, "[]", Value(frozenset({child})))
        return ANYTHING
    if attr.startswith("register_forward_"):
        for obj in models if args else ():
            m.put(_whole(obj), HOOKS, args[0])
        return ANYTHING
    return ANYTHING if attr in ("state_dict", "load_state_dict", "zero_grad") else None


def _whole(obj: Obj) -> Obj:
    return obj.owner or obj if obj.kind == "submodule" else obj


def _optimizer(m: Machine, node: ast.Call, base: Value, attr: str, args: Args, keywords: Keywords) -> Value | None:
    fact = m.facts.calls[node]
    if attr == "step":
        m.mark_loops(step=True)
        fact.optimizers.update(base.of("optimizer"))
        for closure in (o for v in args[:1] for o in v.of("function", "method") if not _is_of_a_model(o)):
            result = m.steps.function(m, closure, [], {}, node)
            if not m.loops:  # the optimizer calls it again, with what the first time has left
                result = m.steps.function(m, closure, [], {}, node)
            searches = any(o.name.endswith("LBFGS") for o in base.objs)  # its closure gives the loss of all ranks
            return Value(extent=Extent.UNIFORM) if searches else result
    if attr == "add_param_group":
        for owner in base.of("optimizer"):
            for value in args:
                m.put(owner, "params", Value(params_in(m, value)))
    return ANYTHING


def _is_of_a_model(obj: Obj) -> bool:
    return obj.owner is not None and obj.owner.kind == "model"


def _scaler(m: Machine, node: ast.Call, base: Value, attr: str, args: Args, keywords: Keywords) -> Value | None:
    if attr == "scale" and args:
        return args[0]
    if attr == "step" and args:
        m.mark_loops(step=True)
        m.facts.calls[node].optimizers.update(args[0].of("optimizer"))
    return ANYTHING


def _nothing(m: Machine, node: ast.Call, base: Value, attr: str, args: Args, keywords: Keywords) -> Value | None:
    return ANYTHING


def _container(m: Machine, node: ast.Call, base: Value, attr: str, args: Args, keywords: Keywords) -> Value | None:
    first = args[0] if args else ANYTHING
    holders = base.of("list", "dict")
    if attr in ("append", "add", "appendleft", "insert"):
        value = _of_one_sample(m, args[-1]) if args else ANYTHING
        chosen = is_of_own_choice(m.facts, node)
        grows = attr == "add" and spread(value) not in (*WHOLE, Extent.SAMPLES)  # a set, by what is not in it yet
        note_size(m.facts, holders if m.context.own_turns or chosen or grows else ())
        note_size(m.facts, _those_around(m, node) if chosen else ())
        value = value.with_extent(Extent.VARYING) if chosen or _one_for_each_turn(m, node, holders, value) else value
        if _goes_together(m, node, value):
            value = value.with_extent(Extent.UNIFORM)
            m.make_uniform(value)
        _put(m, holders, value)
        return ANYTHING
    if attr in ("extend", "update", "subtract"):
        inner = m.elements(first) if first.of("list", "dict") else iterate(m, first, node)
        counts = attr != "update" or any(_is_counter(m, o) for o in holders)
        inner = inner.with_extent(Extent.VARYING) if counts and _one_for_each_turn(m, node, holders, inner) else inner
        note_size(m.facts, holders if grows_apart(m, first) or is_of_own_choice(m.facts, node) else ())
        _put(m, holders, replace(inner, objs=inner.objs | first.of(PICKED, MOVED)))
        put_all(m, Value(holders), first)
        for key, value in keywords.items():
            put_element(m, Value(holders), value, key)
        return ANYTHING
    if attr == "items":
        made = thing("iterator", node, "items")
        for obj in made.objs:
            m.put(obj, "of", base)
        return made
    if attr == "values":
        made = m.make("list", node)
        _put(m, made.objs, m.elements(base))
        return made.with_extent(base.extent)
    if attr in ("copy", "keys"):
        return base if attr == "copy" else ANYTHING
    if attr in ("get", "pop", "popleft", "setdefault"):
        if attr == "setdefault" and len(args) > 1:
            _put(m, holders, args[1])
        takes = attr not in ("get", "setdefault") and m.context.own_turns
        note_size(m.facts, holders if takes or (attr == "setdefault" and first.varies) else ())
        exact = [m.get(o, f"[{first.const!r}]") for o in holders if first.const is not None]
        found = [v for v in exact if v is not None]
        if not found and attr == "get" and len(args) == 1:
            return _perhaps_none(m, holders, m.elements(base))
        return found[0] if found else m.elements(base)
    note_size(m.facts, holders if attr in SHORTENS and (m.context.own_turns or first.varies) else ())
    return None


def _perhaps_none(m: Machine, holders: frozenset[Obj], value: Value) -> Value:
    """`log.get("other")` of what has a number by another key: no number may be there to be combined."""
    keyed = value.varies and any(o in holders and f.startswith("['") for o, f in m.facts.fields)
    return value.with_extent(Extent.VARYING) if keyed and not value.objs else value


def fill(m: Machine, holders: Value, args: Args, keywords: Keywords) -> None:
    """With what a container is made of."""
    for key, value in keywords.items():
        put_element(m, holders, value, key)
    for given in args[-1:]:  # before it, `defaultdict` gets what makes the items
        _put(m, holders.objs, m.elements(given) if given.of("list", "dict") else iterate(m, given, base_place))
        put_all(m, holders, given)


def _those_around(m: Machine, call: ast.Call) -> frozenset[Obj]:
    """The dictionary of `by_class[label].append(…)`, which may get the label only now."""
    match call.func:
        case ast.Attribute(value=ast.Subscript(value=around) | ast.Call(func=ast.Attribute(value=around))):
            return m.facts.value(around).of("dict")
    return frozenset()


def _is_counter(m: Machine, obj: Obj) -> bool:
    made = m.facts.calls.get(obj.node) if isinstance(obj.node, ast.Call) else None
    return made is not None and "collections.Counter" in made.names


def _of_one_sample(m: Machine, value: Value) -> Value:
    """What is kept in a loop over samples is an item for each of them."""
    return value.with_extent(Extent.SAMPLES) if m.context.varying and value.extent is Extent.SUM else value


def _goes_together(m: Machine, node: ast.Call, value: Value) -> bool:
    """`history.append(total / n)` outside of the loops over batches: the script puts that number together there."""
    fact = m.facts.calls[node]
    if getattr(node.func, "attr", "") != "append" or not node.args or isinstance(node.args[-1], ast.JoinedStr):
        return False
    if fact.varying_control or fact.ever_in_forward or m.sharing():
        return False
    known = [m.facts.loops[loop] for loop in fact.loops if loop in m.facts.loops]
    if any(f.loaders or m.facts.draws_itself(f) for f in known):
        return False
    extents = {spread(part) for part in _parts_written(m, node.args[-1], value)} - {*WHOLE}
    return bool(extents) and extents <= {Extent.MEAN, Extent.SUM}


def _parts_written(m: Machine, node: ast.expr, value: Value) -> list[Value]:
    """Of a row that is written there, each number is combined for itself: `(epoch, total / n)`."""
    match node:
        case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Dict(values=parts):
            return [m.facts.value(part) for part in parts]
    return [value] if value.items is None else []


def _put(m: Machine, holders: frozenset[Obj], value: Value) -> None:
    unlike = m.context.of_share or (m.context.own_turns and value.extent is Extent.MEAN)
    if unlike or (m.context.varying and not value.varies):
        value = value.with_extent(Extent.VARYING)
    for obj in holders:
        m.put(obj, "[]", value, beside=True)


def _metric(m: Machine, node: ast.Call, base: Value, attr: str, args: Args, keywords: Keywords) -> Value | None:
    # torchmetrics gathers over the ranks itself when its value is asked for
    return base if attr in ("to", "cuda", "cpu") else ANYTHING


def _super(m: Machine, node: ast.Call, base: Value, attr: str, args: Args, keywords: Keywords) -> Value | None:
    """`super().method(…)`: run the method of a base class on the same instance."""
    frame = m.frame
    result: Value | None = None
    for obj in _first_argument(frame).objs:
        owner = m.facts.classes.get(obj)
        if owner is None:
            continue
        for parent in bases_of(m, owner).of("class"):
            member = class_member(m, parent.node, attr, obj)
            for method in member.of("method") if member else ():
                if method.node is not frame.node:
                    value = m.steps.function(m, method, args, keywords, node)
                    result = value if result is None else join(result, value)
    if result is None and (itself := _first_argument(frame)).of("model"):
        result = _model(m, node, itself, attr, args, keywords)  # torch's: `return super().to(device)`
    if result is None and (held := Value(_first_argument(frame).of("list", "dict"))).objs:
        result = _container(m, node, held, attr, args, keywords)  # Python's: `super().append(value)`
        fill(m, held, args if attr == "__init__" else [], keywords)
    return result or ANYTHING


def _first_argument(frame: Frame) -> Value:
    spec = getattr(frame.node, "args", None)
    named = [*spec.posonlyargs, *spec.args] if isinstance(spec, ast.arguments) else []
    return frame.local.get(named[0].arg, ANYTHING) if named else ANYTHING


_BY_KIND = (
    (("super",), _super),
    (("model", "submodule"), _model),
    (("optimizer",), _optimizer),
    (("scaler",), _scaler),
    (("scheduler", "writer", "tracker", "file", "logger", "device", "iterator"), _nothing),
    (("list", "dict"), _container),
    (("metric",), _metric),
    (("parser",), call_parser),
)


def _tensor(m: Machine, base: Value, attr: str, args: Args, keywords: Keywords) -> Value:
    """Methods of tensors, arrays and numbers, by what they do to the extent."""
    extent, op = spread(base), effect_of(f".{attr}")
    done = op.samples
    if (found := of_samples(m, base, attr, args, keywords, done)) is not None:
        return found
    if attr == "size":
        return _size(m, base, [*args, *(keywords[k] for k in ("dim",) if k in keywords)])
    if op.about == "kind":
        return Value(number=True)
    if op.size is not None:  # `x.new_zeros(len(x), 3)`
        extent = of_size({m.held(v) for v in (*args, *keywords.values())})
        return Value(extent=extent, const=0 if attr == "new_zeros" and extent in WHOLE else None)
    if attr == "item":
        return Value(extent=m.one_number(extent), number=True)
    if done is Samples.KEEPS:
        extent = UNARY[attr](base) if attr in UNARY else extent
        return lined(attr, Value(base.objs - base.of("shape"), extent, base.items, base.const), args)
    if attr in REPLACES and (attr == "copy_" or extent not in (Extent.SAMPLES, Extent.VARYING)):
        given = args[0] if args else Value(const=0)
        return given if attr == "copy_" else replace(given, number=False, size=False)
    values = (replace(v, extent=m.held(v)) if v.objs else v for v in (*args, *keywords.values()))
    found = Value(extent=elementwise([base, *values]))
    return operation(attr, [base, *args], keywords) or like(found, [base])


def _size(m: Machine, base: Value, args: Args) -> Value:
    varies = spread(base) in (Extent.SAMPLES, Extent.VARYING)
    if not args:
        kept = thing("shape", base_place).objs | base.of(PICKED, TURNED)
        return Value(kept, Extent.SAMPLES if varies else Extent.UNIFORM)
    return m.size(base) if varies and args[0].const == samples_at(base) else Value(number=True)


base_place = ast.Pass()
