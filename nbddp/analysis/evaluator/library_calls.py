"""Call a function of a library in the abstract."""

from __future__ import annotations

import ast
from dataclasses import replace
from functools import reduce

from nbddp.analysis.evaluator.attributes import read
from nbddp.analysis.evaluator.iteration import iterate, loaders_in, params_in, parts
from nbddp.analysis.evaluator.tensor_rules import TOTALS, each_for_itself, function_among, operation
from nbddp.analysis.evaluator.writes import moved_by_hand, write_into
from nbddp.analysis.library import LOGGERS, OPENS, TRACKERS, Samples, done_to_samples, under
from nbddp.analysis.library import constructors as names
from nbddp.analysis.values import (
    ANYTHING,
    EACH,
    PICKED,
    STATISTIC,
    UNARY,
    WHOLE,
    Extent,
    Machine,
    Obj,
    Value,
    elementwise,
    foreign,
    is_foreign,
    is_uneven,
    join_all,
    join_extent,
    marked,
    reduced,
    spread,
    thing,
)

Args = list[Value]


Keywords = dict[str, Value]


DIMENSION = ("dim", "axis")


LISTS = {"list", "set", "collections.deque"}


ZEROS = ("zeros", "zeros_like")


FACTORIES = ("zeros", "ones", "full", "empty")


def call_library(m: Machine, node: ast.Call, name: str, args: Args, keywords: Keywords) -> Value | None:
    found = _call_library(m, node, name, args, keywords)
    if "requires_grad" in keywords and keywords["requires_grad"].const is True and found and not found.objs:
        return replace(found, objs=frozenset({Obj("parameter", node, name, None, m.frame.call)}))
    return found


def _call_library(m: Machine, node: ast.Call, name: str, args: Args, keywords: Keywords) -> Value | None:
    given = [*args, *keywords.values()]
    if name.endswith("_") and node.args:  # torch._foreach_lerp_, torch.nn.init.ones_
        moved_by_hand(m, node.args[0])
    write_into(m, node, name, args, keywords)
    made = _make(m, node, name, args, keywords)
    if made is not None:
        return made
    found = _builtin(m, node, name, args, keywords)
    if found is not None:
        return found
    if names.is_mean_loss(name):
        return Value(extent=reduced(given, keywords))
    if (done := _totals(name)) is not None:
        counts = name.endswith("count_nonzero") and args and m.held(args[0]) is not Extent.SAMPLES
        return Value(extent=elementwise(args)) if counts else _total(m, args, keywords, done)
    if names.is_random(name) and m.sharing():
        return Value(extent=Extent.SAMPLES)
    if m.loops and names.is_chance(name):
        return Value(extent=reduce(join_extent, (spread(v) for v in given), Extent.REPEATED))
    if name.startswith("torch.nn.utils.clip_grad"):
        return ANYTHING
    result = function_among(m, name, args, keywords) or _compute(m, name, args, keywords)
    return foreign(m, node, name) if is_foreign(name) and not result.varies else result


def _make(  # noqa: C901, PLR0912 -- one case for each kind of thing
    m: Machine, node: ast.Call, name: str, args: Args, keywords: Keywords
) -> Value | None:
    """Things that a library makes: loaders, models, optimizers and so on."""
    first = args[0] if args else ANYTHING
    if name == "torch.utils.data.DataLoader" or name.endswith((".DataLoader", ".DataListLoader")):
        return _made(m, thing("loader", node, name, m.turn, m.frame.call), {"dataset": first, **keywords})
    if names.makes_scheduler(name):
        return _made(
            m, thing("scheduler", node, name, None, m.frame.call), {"optimizer": keywords.get("optimizer", first)}
        )
    if name in ("torch.optim.swa_utils.AveragedModel", "copy.deepcopy"):
        return _copied(m, node, first) if first.of("model") else (first if name == "copy.deepcopy" else None)
    params = keywords.get("params", first)
    owners = params_in(m, params)
    if names.makes_optimizer(name) or (owners and names.is_class(name) and not name.startswith("torch.nn")):
        made = thing("optimizer", node, name, None, m.frame.call)
        return _made(m, made, {"params": Value(owners)})
    if names.makes_loss(name):
        return _made(m, thing("loss", node, name, None, m.frame.call), keywords)
    if name == "torch.nn.Parameter":
        return thing("parameter", node, name, None, m.frame.call)
    if names.makes_model(name) and name not in names.SAME:
        return _model(m, node, name, [*args, *keywords.values()])
    if name == "argparse.ArgumentParser":
        return thing("parser", node)
    if name in ("torch.amp.GradScaler", "torch.GradScaler"):
        return thing("scaler", node, name)
    if name == "torch.device":
        return thing("device", node, name)
    if names.makes_sampler(name):
        return _made(m, thing("sampler", node, name), {"source": first})
    if names.makes_dataset(name):
        kind = "split" if name.endswith("random_split") else "dataset"
        return _made(m, thing(kind, node, name), {"source": first})
    if under(name, names.WRITERS):
        return thing("writer", node, name)
    keeper = "file" if name in OPENS else "logger" if name in LOGGERS else "tracker" if name in TRACKERS else ""
    if keeper:
        return thing(keeper, node, name)
    if name.startswith("torchmetrics.") and names.is_class(name):
        return thing("metric", node, name)
    return None


def _made(m: Machine, made: Value, fields: Keywords) -> Value:
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
    return made


def _builtin(  # noqa: C901, PLR0912 -- one case for each function
    m: Machine, node: ast.Call, name: str, args: Args, keywords: Keywords
) -> Value | None:
    first = args[0] if args else keywords.get("iterable", ANYTHING)
    if name == "len":
        return _length(m, first)
    if name == "next":
        batches_of = loaders_in(m, first)
        m.facts.drawn |= batches_of
        for loader in batches_of if m.grad else ():
            for active in m.loops:
                active.fact.next_of.add(loader)
        batch = iterate(m, first, node) if first.objs else Value(extent=spread(first))
        return batch.with_extent(Extent.REPEATED) if batches_of and batches_of <= m.assumed.unshared else batch
    if name == "zip":
        return _made(m, thing("iterator", node, "zip"), {"of": Value(items=tuple(args))})
    if name in names.ZIPS or name in names.PASSES_ITERABLE:
        return _passed(m, node, name, first, args)
    if name == "filter" and len(args) > 1:
        return args[1]
    if name == "map" and len(args) > 1:
        return _mapped(m, node, args)
    if name == "getattr" and len(args) > 1 and isinstance(args[1].const, str):
        return read(m, first, args[1].const, node)
    if name == "setattr" and len(args) > 2:
        for obj in first.objs:
            known = args[1].const if isinstance(args[1].const, str) else None
            for field in [known] if known is not None else [f for o, f in m.facts.fields if o == obj]:
                m.put(obj, field, args[2])
        return ANYTHING
    if name == "super":
        return _super(m, node)
    if name in ("dict", "collections.OrderedDict", "collections.defaultdict", "argparse.Namespace",
                "types.SimpleNamespace", "collections.Counter", "easydict.EasyDict"):  # fmt: skip
        zero = name == "collections.Counter" or {o.name for o in first.of("library")} & {"int", "float"}
        made = _dict_call(m, node, keywords, bool(zero))
        lists = name == "collections.defaultdict" and {o.name for o in first.of("library")} & LISTS
        if lists:
            return _made(m, made, {"[]": m.make("list", node)})
        return _made(m, made, {"[]": _default(m, node, first)}) if first.of("class", "function") else made
    if name == "functools.partial":
        return (
            _partial(m, node, args, keywords) if first.objs and first.objs == first.of("function", "method") else first
        )
    if name in names.SAME:
        return first
    if name in names.KEEPS_EXTENT:
        kept = _kept(m, name, first)
        return replace(kept, sources=first.sources) if name == "int" and first.sources else kept
    if name in ("vars", "repr", "format") and first.of("instance") and m.held(first) not in WHOLE:
        return Value(extent=Extent.VARYING)
    if name in ("min", "max"):
        found = [join_extent(spread(v), spread(m.elements(v))) for v in args]
        return Value(extent=reduce(join_extent, found, Extent.UNIFORM) if set(found) <= {*WHOLE} else Extent.VARYING)
    return None


def _partial(m: Machine, node: ast.Call, args: Args, keywords: Keywords) -> Value:
    made = m.make("partial", node)
    for obj in made.objs:
        for key, value in [*enumerate(args), *keywords.items()]:
            m.put(obj, f"given {key}", value)
    return made


def _kept(m: Machine, name: str, value: Value) -> Value:
    inner = m.elements(value) if value.of("list") else value
    word = name.rsplit(".", 1)[-1]
    extent = UNARY[word](inner) if word in UNARY else spread(inner)
    if value.of("instance"):
        extent = Extent.VARYING if m.held(value) not in WHOLE else Extent.UNIFORM
        return Value(extent=extent)
    if name == "str" and extent not in WHOLE:
        return Value(extent=Extent.VARYING)
    if name in ("float", "int", "round"):
        extent = m.one_number(extent)
    const = value.const if isinstance(value.const, int | float) else None
    number = name in ("float", "int") or (value.number and name in ("round", "abs"))
    return Value(value.objs - value.of("list"), extent, const=const, equal=value.equal, number=number)


def _length(m: Machine, value: Value) -> Value:
    if value.of("loader", "dataset"):
        return ANYTHING
    if value.of("loader sampler"):
        return Value(extent=Extent.UNIFORM)
    if value.of(EACH, PICKED):
        return Value(extent=Extent.SUM, number=True)
    if is_uneven(m.facts, value):
        return Value(extent=Extent.VARYING, number=True)
    if value.of("list"):  # as many as there are batches, or samples
        return Value(
            extent=Extent.VARYING if spread(m.elements(value)) is Extent.SAMPLES or m.deals() else Extent.UNIFORM
        )
    return replace(m.size(value), number=False) if spread(value) is Extent.SAMPLES else ANYTHING


def _passed(m: Machine, node: ast.Call, name: str, first: Value, args: Args) -> Value:
    if name in ("list", "tuple", "itertools.chain") and not first.of("loader", "iterator"):
        if name == "itertools.chain":
            return Value(join_all(args).objs, join_all(args).extent)
        return first
    label = "enumerate" if name == "enumerate" else name
    return _made(m, thing("iterator", node, label), {"of": first})


def _mapped(m: Machine, node: ast.Call, args: Args) -> Value:
    result = m.steps.call(m, node, args[0], None, [iterate(m, a, node) for a in args[1:]], {})
    made = m.make("list", node)
    for obj in made.objs:
        m.put(obj, "[]", result)
    return made


def _super(m: Machine, node: ast.Call) -> Value:
    """`super()` in a method: the instance, seen from the bases."""
    return thing("super", node)


def _dict_call(m: Machine, node: ast.Call, keywords: Keywords, counts: bool) -> Value:
    made = m.make("dict", node)
    (obj,) = made.objs
    if counts:
        m.put(obj, "[]", Value(const=0))
    for key, value in keywords.items():
        m.put(obj, f"[{key!r}]", value)
        m.put(obj, "[]", value)
    return made


def _default(m: Machine, node: ast.Call, factory: Value) -> Value:
    """`defaultdict(Meter)`: what a key that is new stands for."""
    return m.steps.call(m, node, factory, None, [], {})


def _totals(name: str) -> Samples | None:
    """Does it add up, average or count what it is given?"""
    word = name.removeprefix("torch.").removeprefix("numpy.")
    done = Samples.SUM if name == "sum" else Samples.MEAN if name in names.MEAN_NAMES else None
    known = done_to_samples(word) if word != name else None
    return done or (known if known in (*TOTALS, Samples.COUNT) else None)


def _total(m: Machine, args: Args, keywords: Keywords, done: Samples) -> Value:
    """A sum or a mean over a value: of samples it is what it says; numbers of whole batches keep their extent."""
    first = args[0] if args else ANYTHING
    inner = m.elements(first) if first.of("list") else first
    extent = spread(inner)
    along = args[1] if len(args) > 1 else next((keywords[k] for k in DIMENSION if k in keywords), None)
    if done is Samples.COUNT:
        return m.size(inner) if extent is Extent.SAMPLES else Value(number=True)
    if extent is Extent.SAMPLES:
        whole = along is None or along.const == 0 or any(i.const == 0 for i in along.items or ())
        return Value(extent=TOTALS[done](inner) if whole else extent)
    if done is Samples.SUM and extent in WHOLE and first.of(EACH, PICKED):
        return Value(extent=Extent.SUM, number=inner.number)  # `sum(1 for t, p in zip(y, predicted) if t == p)`
    return Value(extent=extent)


def _is_size(value: Value) -> bool:
    """`torch.reshape(x, (len(x), -1))`."""
    return (value.equal and value.number) or any(map(_is_size, value.items or ()))


def _compute(m: Machine, name: str, args: Args, keywords: Keywords) -> Value:
    given = [*args, *keywords.values()]
    extents = [m.held(v) for v in given]
    extent = reduce(join_extent, extents, Extent.UNIFORM)
    if extent in WHOLE:
        return Value(extent=extent, const=0 if name.rsplit(".", 1)[-1] in ZEROS else None)
    if name.rsplit(".", 1)[-1] in FACTORIES and set(extents) <= {*WHOLE, Extent.SUM}:
        return Value(extent=Extent.SAMPLES)  # of the share's size
    if name.startswith("sklearn.metrics.") and Extent.SAMPLES in extents:
        if any(k in keywords and keywords[k].const is not True for k in ("normalize", "squared")):
            return Value(extent=Extent.SUM if name.endswith("accuracy_score") else Extent.VARYING)
        return Value(extent=Extent.MEAN if name.rsplit(".", 1)[-1] in names.SKLEARN_MEANS else Extent.VARYING)
    if name.startswith(("torch.", "numpy.", "einops.", "torchvision.")) and Extent.SAMPLES in extents:
        word = name.rsplit(".", 1)[-1]
        of_all = done_to_samples(word) in (Samples.STATISTIC, Samples.ORDERS)
        mixes = of_all and not each_for_itself(word, args[1:], keywords)
        if mixes:
            return marked(Value(extent=Extent.VARYING), STATISTIC)
        if word in ("allclose", "equal"):
            return Value(extent=Extent.VARYING)
        parts = (replace(v, extent=m.held(v)) for v in given if not _is_size(v))
        return operation(word, args, keywords) or Value(extent=elementwise(parts))
    if name in ("torch.stack", "torch.cat", "numpy.concatenate", "torch.vstack", "numpy.stack", "torch.hstack"):
        return Value(extent=extent)
    return Value(extent=Extent.VARYING)
